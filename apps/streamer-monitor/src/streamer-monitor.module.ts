import { Module, type DynamicModule } from '@nestjs/common';
import { ShellModule, type Shell } from '@stream-events/service';
import { DataSource } from 'typeorm';

/** What is connected before the module is made. */
export interface StreamerMonitorConnections {
  dataSource: DataSource;
}

@Module({})
export class StreamerMonitorModule {
  static register(shell: Shell<unknown>, { dataSource }: StreamerMonitorConnections): DynamicModule {
    return {
      module: StreamerMonitorModule,
      imports: [ShellModule.register(shell)],
      controllers: [],
      providers: [{ provide: DataSource, useValue: dataSource }],
    };
  }
}
