import type { NatsConnection } from '@nats-io/transport-node';
import { Module, type DynamicModule } from '@nestjs/common';
import { EVENTS_CONNECTION, RequestClient } from '@stream-events/messaging';
import { ShellModule, type Shell } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { ConnectionsModule } from './connections/connections.module.js';
import { EventTypesModule } from './event-types/event-types.module.js';
import { LookUpModule } from './look-up/look-up.module.js';
import type { PlatformConnectorConfig } from './platform-connector.config.js';
import { PlatformModule } from './platform/platform.module.js';
import { ReconciliationModule } from './reconciliation/reconciliation.module.js';
import { RevocationsModule } from './revocations/revocations.module.js';
import { StatusModule } from './status/status.module.js';
import { SubscriptionsModule } from './subscriptions/subscriptions.module.js';

/** The connections that the app opens before it creates the module. */
export interface PlatformConnectorConnections {
  dataSource: DataSource;
  /** For requests to the streamer monitor. */
  client: RequestClient;
  /** For reading the EVENTS stream. */
  connection: NatsConnection;
}

@Module({})
export class PlatformConnectorModule {
  static register(
    shell: Shell<PlatformConnectorConfig>,
    { dataSource, client, connection }: PlatformConnectorConnections,
  ): DynamicModule {
    const shared = ShellModule.register(shell, [
      { provide: DataSource, useValue: dataSource },
      { provide: RequestClient, useValue: client },
      { provide: EVENTS_CONNECTION, useValue: connection },
    ]);
    return {
      module: PlatformConnectorModule,
      imports: [
        shared,
        PlatformModule,
        LookUpModule,
        SubscriptionsModule,
        EventTypesModule,
        ReconciliationModule,
        RevocationsModule,
        ConnectionsModule,
        StatusModule,
      ],
    };
  }
}
