import { Module } from '@nestjs/common';
import { EventTypesModule } from '../event-types/event-types.module.js';
import { GrantsModule } from '../grants/grants.module.js';
import { PlatformModule } from '../platform/platform.module.js';
import { AuthorizationServer } from './authorization-server.js';
import { ChannelConsent } from './channel-consent.service.js';
import { ConnectionConsequences } from './connection-consequences.service.js';
import { ConnectionUpkeep } from './connection-upkeep.service.js';
import { ConnectionsController } from './connections.controller.js';
import { ConnectionsRepository } from './connections.repository.js';
import { ConnectionsService } from './connections.service.js';
import { ConsentEventsConsumer } from './consent-events.consumer.js';
import { UserPlatforms } from './user-platforms.service.js';
import { UserTokens } from './user-tokens.service.js';

/** Manages users' consent and their tokens. */
@Module({
  imports: [EventTypesModule, GrantsModule, PlatformModule],
  controllers: [ConnectionsController],
  providers: [
    AuthorizationServer,
    ChannelConsent,
    ConnectionConsequences,
    ConnectionsRepository,
    ConnectionsService,
    ConnectionUpkeep,
    ConsentEventsConsumer,
    UserPlatforms,
    UserTokens,
  ],
  exports: [AuthorizationServer, ConnectionConsequences, ConnectionsRepository, UserPlatforms, UserTokens],
})
export class ConnectionsModule {}
