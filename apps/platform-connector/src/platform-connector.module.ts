import { Module, type DynamicModule } from '@nestjs/common';
import { ShellModule, type Shell } from '@stream-events/service';
import { DataSource } from 'typeorm';

/** What is connected before the module is made. */
export interface PlatformConnectorConnections {
  dataSource: DataSource;
}

@Module({})
export class PlatformConnectorModule {
  static register(shell: Shell<unknown>, { dataSource }: PlatformConnectorConnections): DynamicModule {
    return {
      module: PlatformConnectorModule,
      imports: [ShellModule.register(shell)],
      controllers: [],
      providers: [{ provide: DataSource, useValue: dataSource }],
    };
  }
}
