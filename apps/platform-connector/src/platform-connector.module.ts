import type { NatsConnection } from '@nats-io/transport-node';
import { Module, type DynamicModule } from '@nestjs/common';
import { RequestClient } from '@stream-events/messaging';
import { ShellModule, type Shell } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { ApiEndpointsController } from './catalogue/api-endpoints.controller.js';
import { ApiEndpointsService } from './catalogue/api-endpoints.service.js';
import { ScopesController } from './catalogue/scopes.controller.js';
import { ScopesService } from './catalogue/scopes.service.js';
import { EventTypesController } from './event-types/event-types.controller.js';
import { EventTypesRepository } from './event-types/event-types.repository.js';
import { EventTypesService } from './event-types/event-types.service.js';
import { LookUpController } from './look-up/look-up.controller.js';
import type { PlatformConnectorConfig } from './platform-connector.config.js';
import { AppTokensRepository } from './platform/app-tokens.repository.js';
import { AppTokens } from './platform/app-tokens.service.js';
import { NoPlatform } from './platform/no-platform.js';
import { PlatformClient } from './platform/platform-client.js';
import { PlatformErrors } from './platform/platform-errors.service.js';
import { PlatformHealth } from './platform/platform-health.service.js';
import { PlatformHttp } from './platform/platform-http.js';
import { PLATFORM_SETTINGS, toPlatformSettings } from './platform/platform-settings.js';
import { PLATFORM, type Platform } from './platform/platform.js';
import { RateBudgets } from './platform/rate-budgets.service.js';
import { TwitchPlatform } from './platform/twitch-platform.js';
import { PlatformStatus } from './status/platform-status.service.js';
import { StatusController } from './status/status.controller.js';
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
    shell: Shell<PlatformConnectorConfig>,
    { dataSource, client, eventsConnection }: PlatformConnectorConnections,
  ): DynamicModule {
    const settings = toPlatformSettings(shell.config);
    return {
      module: PlatformConnectorModule,
      imports: [ShellModule.register(shell)],
      controllers: [
        ApiEndpointsController,
        EventTypesController,
        LookUpController,
        ScopesController,
        StatusController,
        SubscriptionsController,
      ],
      providers: [
        { provide: DataSource, useValue: dataSource },
        { provide: RequestClient, useValue: client },
        { provide: EVENTS_CONNECTION, useValue: eventsConnection },
        { provide: PLATFORM_SETTINGS, useValue: settings },
        {
          provide: PLATFORM,
          inject: [TwitchPlatform],
          useFactory: (twitch: TwitchPlatform): Platform =>
            settings.platform === 'none' ? new NoPlatform() : twitch,
        },
        ApiEndpointsService,
        AppTokens,
        AppTokensRepository,
        DesiredSubscriptionsService,
        EventTypesRepository,
        EventTypesService,
        MonitoredStreamers,
        PlanExecution,
        PlatformClient,
        PlatformErrors,
        PlatformHealth,
        PlatformHttp,
        PlatformStatus,
        PlatformSubscriptions,
        RateBudgets,
        Reconciler,
        ReconciliationRepository,
        ReconciliationRound,
        RevocationsConsumer,
        ScopesService,
        SubscriptionListRepository,
        SubscriptionMetrics,
        SubscriptionStatus,
        SubscriptionsRepository,
        TwitchPlatform,
      ],
    };
  }
}
