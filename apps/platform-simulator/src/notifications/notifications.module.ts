import { Module } from '@nestjs/common';
import { ConduitsModule } from '../conduits/conduits.module.js';
import { FaultsModule } from '../faults/faults.module.js';
import { GrantsModule } from '../grants/grants.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { MessagesModule } from '../messages/messages.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { WorldModule } from '../world/world.module.js';
import { ConduitNotifications } from './conduit-notifications.service.js';
import { ConsentNotifications } from './consent-notifications.service.js';
import { NotificationGenerator } from './notification-generator.service.js';
import { NotificationSender } from './notification-sender.service.js';
import { NotificationsService } from './notifications.service.js';
import { SimulatedNotificationsController } from './simulated-notifications.controller.js';

@Module({
  imports: [
    ConduitsModule,
    FaultsModule,
    GrantsModule,
    LimitsModule,
    MessagesModule,
    SubscriptionsModule,
    WorldModule,
  ],
  controllers: [SimulatedNotificationsController],
  providers: [
    NotificationSender,
    NotificationsService,
    NotificationGenerator,
    ConsentNotifications,
    ConduitNotifications,
  ],
  exports: [NotificationSender, NotificationGenerator],
})
export class NotificationsModule {}
