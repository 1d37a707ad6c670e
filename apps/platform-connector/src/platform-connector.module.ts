import type { NatsConnection } from '@nats-io/transport-node';
import { Module, type DynamicModule } from '@nestjs/common';
import { RequestClient } from '@stream-events/messaging';
import { ShellModule, type Shell } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { EventTypesController } from './event-types/event-types.controller.js';
import { EventTypesRepository } from './event-types/event-types.repository.js';
import { EventTypesService } from './event-types/event-types.service.js';
import { AbsentPlatform } from './platform/absent-platform.js';
import { PLATFORM } from './platform/platform.js';
import { DesiredSubscriptionsService } from './subscriptions/desired-subscriptions.service.js';
import { MonitoredStreamers } from './subscriptions/monitored-streamers.js';
import { PlanExecution } from './subscriptions/plan-execution.service.js';
import { PlatformSubscriptions } from './subscriptions/platform-subscriptions.js';
import { Reconciler } from './subscriptions/reconciler.service.js';
import { ReconciliationRepository } from './subscriptions/reconciliation.repository.js';
import { ReconciliationRound } from './subscriptions/reconciliation-round.service.js';
import { EVENTS_CONNECTION, RevocationsConsumer } from './subscriptions/revocations.consumer.js';
import { SubscriptionListRepository } from './subscriptions/subscription-list.repository.js';
import { SubscriptionMetrics } from './subscriptions/subscription-metrics.js';
import { SubscriptionStatus } from './subscriptions/subscription-status.service.js';
import { SubscriptionsController } from './subscriptions/subscriptions.controller.js';
import { SubscriptionsRepository } from './subscriptions/subscriptions.repository.js';

/** What is connected before the module is made. */
export interface PlatformConnectorConnections {
  dataSource: DataSource;
  /** For requests to the other services. */
  client: RequestClient;
  /** For reading the EVENTS stream. */
  eventsConnection: NatsConnection;
}

@Module({})
export class PlatformConnectorModule {
  static register(
    shell: Shell<unknown>,
    { dataSource, client, eventsConnection }: PlatformConnectorConnections,
  ): DynamicModule {
    return {
      module: PlatformConnectorModule,
      imports: [ShellModule.register(shell)],
      controllers: [EventTypesController, SubscriptionsController],
      providers: [
        { provide: DataSource, useValue: dataSource },
        { provide: RequestClient, useValue: client },
        { provide: EVENTS_CONNECTION, useValue: eventsConnection },
        { provide: PLATFORM, useClass: AbsentPlatform },
        DesiredSubscriptionsService,
        EventTypesRepository,
        EventTypesService,
        MonitoredStreamers,
        PlanExecution,
        PlatformSubscriptions,
        Reconciler,
        ReconciliationRepository,
        ReconciliationRound,
        RevocationsConsumer,
        SubscriptionListRepository,
        SubscriptionMetrics,
        SubscriptionStatus,
        SubscriptionsRepository,
      ],
    };
  }
}
