import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { PlatformModule } from '../platform/platform.module.js';
import { ClientCallsController } from './client-calls.controller.js';
import { ClientCalls } from './client-calls.service.js';

/** Calls of the platform's API that clients make, with the token of a user or of the application. */
@Module({
  imports: [ConnectionsModule, PlatformModule],
  controllers: [ClientCallsController],
  providers: [ClientCalls],
})
export class ClientCallsModule {}
