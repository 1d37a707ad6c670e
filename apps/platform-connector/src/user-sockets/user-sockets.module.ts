import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { PlatformModule } from '../platform/platform.module.js';
import { SocketsModule } from '../sockets/sockets.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { UserSockets } from './user-sockets.service.js';

/** Holds plain event sockets, each for the subscriptions of one user. */
@Module({
  imports: [ConnectionsModule, PlatformModule, SocketsModule, SubscriptionsModule],
  providers: [UserSockets],
  exports: [UserSockets],
})
export class UserSocketsModule {}
