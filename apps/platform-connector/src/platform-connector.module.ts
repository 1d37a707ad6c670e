import { Module, type DynamicModule } from '@nestjs/common';
import { ShellModule, type Shell } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { ApiEndpointsController } from './catalogue/api-endpoints.controller.js';
import { ApiEndpointsService } from './catalogue/api-endpoints.service.js';
import { ScopesController } from './catalogue/scopes.controller.js';
import { ScopesService } from './catalogue/scopes.service.js';

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
      controllers: [ApiEndpointsController, ScopesController],
      providers: [{ provide: DataSource, useValue: dataSource }, ApiEndpointsService, ScopesService],
    };
  }
}
