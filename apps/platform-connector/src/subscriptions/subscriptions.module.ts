import { Module } from '@nestjs/common';
import { ConduitsModule } from '../conduits/conduits.module.js';
import { PlatformModule } from '../platform/platform.module.js';
import { SocketsModule } from '../sockets/sockets.module.js';
import { ReconciliationSchedule } from './reconciliation-schedule.repository.js';
import { SubscriptionListRepository } from './subscription-list.repository.js';
import { SubscriptionMetrics } from './subscription-metrics.js';
import { SubscriptionStatus } from './subscription-status.service.js';
import { SubscriptionsController } from './subscriptions.controller.js';
import { SubscriptionsRepository } from './subscriptions.repository.js';
import { OwnTransportsReader } from './own-transports.js';

/**
 * Stores the service's subscriptions, and schedules their reconciliation with the platform. The schedule is not in reconciliation/, because
 * event-types/ and subscriptions/ use the schedule, and reconciliation/ imports both folders.
 */
@Module({
  imports: [ConduitsModule, PlatformModule, SocketsModule],
  controllers: [SubscriptionsController],
  providers: [
    ReconciliationSchedule,
    SubscriptionListRepository,
    SubscriptionMetrics,
    SubscriptionStatus,
    SubscriptionsRepository,
    OwnTransportsReader,
  ],
  exports: [
    ReconciliationSchedule,
    SubscriptionMetrics,
    SubscriptionStatus,
    SubscriptionsRepository,
    OwnTransportsReader,
  ],
})
export class SubscriptionsModule {}
