import { Module } from '@nestjs/common';
import { ConduitsModule } from '../conduits/conduits.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { EventTypesModule } from '../event-types/event-types.module.js';
import { GrantsModule } from '../grants/grants.module.js';
import { PlatformModule } from '../platform/platform.module.js';
import { SocketsModule } from '../sockets/sockets.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { ConditionValuesReader } from './condition-values.service.js';
import { DesiredSubscriptionsService } from './desired-subscriptions.service.js';
import { MovesLog } from './moves-log.service.js';
import { PlanExecution } from './plan-execution.service.js';
import { PlatformSubscriptions } from './platform-subscriptions.js';
import { Reconciler } from './reconciler.service.js';
import { ReconciliationRound } from './reconciliation-round.service.js';
import { StreamerMonitorClient } from './streamer-monitor.client.js';

/** Compares the wanted subscriptions with the platform's, and creates and deletes subscriptions accordingly. */
@Module({
  imports: [
    ConduitsModule,
    ConnectionsModule,
    EventTypesModule,
    GrantsModule,
    PlatformModule,
    SocketsModule,
    SubscriptionsModule,
  ],
  providers: [
    ConditionValuesReader,
    DesiredSubscriptionsService,
    MovesLog,
    PlanExecution,
    PlatformSubscriptions,
    Reconciler,
    ReconciliationRound,
    StreamerMonitorClient,
  ],
  exports: [Reconciler],
})
export class ReconciliationModule {}
