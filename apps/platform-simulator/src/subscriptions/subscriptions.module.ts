import { Module } from '@nestjs/common';
import { GrantsModule } from '../grants/grants.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { MessagesModule } from '../messages/messages.module.js';
import { OAuthModule } from '../oauth/oauth.module.js';
import { WorldModule } from '../world/world.module.js';
import { SubscriptionsController } from './subscriptions.controller.js';
import { SubscriptionsService } from './subscriptions.service.js';

/** Webhook subscriptions. */
@Module({
  imports: [GrantsModule, LimitsModule, MessagesModule, OAuthModule, WorldModule],
  controllers: [SubscriptionsController],
  providers: [SubscriptionsService],
  exports: [SubscriptionsService],
})
export class SubscriptionsModule {}
