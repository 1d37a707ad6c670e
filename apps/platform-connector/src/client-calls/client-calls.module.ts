import { Module } from '@nestjs/common';
import { ConduitsModule } from '../conduits/conduits.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { PlatformModule } from '../platform/platform.module.js';
import { CallTokens } from './call-tokens.service.js';
import { CallableEndpoints } from './callable-endpoints.service.js';
import { ClientCallsController } from './client-calls.controller.js';
import { ClientCalls } from './client-calls.service.js';

/** Calls the platform's API on behalf of clients, with the token of a user or of the application. */
@Module({
  imports: [ConduitsModule, ConnectionsModule, PlatformModule],
  controllers: [ClientCallsController],
  providers: [CallableEndpoints, CallTokens, ClientCalls],
})
export class ClientCallsModule {}
