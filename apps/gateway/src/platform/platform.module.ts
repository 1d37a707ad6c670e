import { Module } from '@nestjs/common';
import { AuditLogModule } from '../audit-log/audit-log.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { UsersModule } from '../users/users.module.js';
import { ChannelConsentController } from './channel-consent.controller.js';
import { CompletedConnections } from './completed-connections.service.js';
import { ConnectionCallbackController } from './connection-callback.controller.js';
import { ConnectionsController } from './connections.controller.js';
import { PlatformCallsController } from './platform-calls.controller.js';
import { PicturesController } from './pictures.controller.js';
import { PlatformController } from './platform.controller.js';
import { StreamerEventTypesController } from './streamer-event-types.controller.js';

@Module({
  imports: [AuditLogModule, PagingModule, UsersModule],
  controllers: [
    ChannelConsentController,
    ConnectionCallbackController,
    ConnectionsController,
    PlatformController,
    PlatformCallsController,
    PicturesController,
    StreamerEventTypesController,
  ],
  providers: [CompletedConnections],
})
export class PlatformModule {}
