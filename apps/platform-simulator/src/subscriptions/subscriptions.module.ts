import { Module } from '@nestjs/common';
import { ConduitsModule } from '../conduits/conduits.module.js';
import { GrantsModule } from '../grants/grants.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { MessagesModule } from '../messages/messages.module.js';
import { OAuthModule } from '../oauth/oauth.module.js';
import { SocketsModule } from '../sockets/sockets.module.js';
import { TransportsModule } from '../transports/transports.module.js';
import { WorldModule } from '../world/world.module.js';
import { RequestChecks } from './request-checks.service.js';
import { SubscriptionEndings } from './subscription-endings.service.js';
import { SubscriptionTransports } from './subscription-transports.service.js';
import { SubscriptionsController } from './subscriptions.controller.js';
import { SubscriptionsService } from './subscriptions.service.js';

@Module({
  imports: [
    ...[LimitsModule, WorldModule, GrantsModule, OAuthModule, MessagesModule],
    ...[SocketsModule, TransportsModule, ConduitsModule],
  ],
  controllers: [SubscriptionsController],
  providers: [RequestChecks, SubscriptionTransports, SubscriptionsService, SubscriptionEndings],
  exports: [SubscriptionsService],
})
export class SubscriptionsModule {}
