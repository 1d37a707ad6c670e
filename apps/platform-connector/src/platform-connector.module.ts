import type { NatsConnection } from '@nats-io/transport-node';
import { Module, type DynamicModule } from '@nestjs/common';
import { IngestModule } from '@stream-events/ingest';
import { EVENTS_CONNECTION, RequestClient } from '@stream-events/messaging';
import { ShellModule, type Shell } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { AlarmChecksModule } from './alarm-checks/alarm-checks.module.js';
import { alarmTimes, type AlarmTimes } from './alarms/alarm-times.js';
import { AlarmsModule } from './alarms/alarms.module.js';
import { ClientCallsModule } from './client-calls/client-calls.module.js';
import { ConduitsModule } from './conduits/conduits.module.js';
import { ConnectionsModule } from './connections/connections.module.js';
import { EventTypesModule } from './event-types/event-types.module.js';
import { GrantsModule } from './grants/grants.module.js';
import { LookUpModule } from './look-up/look-up.module.js';
import type { PlatformConnectorConfig } from './platform-connector.config.js';
import { PicturesModule } from './pictures/pictures.module.js';
import { PlatformModule } from './platform/platform.module.js';
import { ReconciliationModule } from './reconciliation/reconciliation.module.js';
import { RevocationsModule } from './revocations/revocations.module.js';
import { SocketsModule } from './sockets/sockets.module.js';
import { StatusModule } from './status/status.module.js';
import { SubscriptionsModule } from './subscriptions/subscriptions.module.js';
import { UserSocketsModule } from './user-sockets/user-sockets.module.js';

/** The connections that the app opens before it creates this module. */
export interface PlatformConnectorConnections {
  dataSource: DataSource;
  /** Sends requests to the streamer monitor and the events service. */
  client: RequestClient;
  /** Reads the EVENTS stream. */
  connection: NatsConnection;
}

@Module({})
export class PlatformConnectorModule {
  static register(
    shell: Shell<PlatformConnectorConfig>,
    { dataSource, client, connection }: PlatformConnectorConnections,
    times: AlarmTimes = alarmTimes,
  ): DynamicModule {
    const shared = ShellModule.register(shell, [
      { provide: DataSource, useValue: dataSource },
      { provide: RequestClient, useValue: client },
      { provide: EVENTS_CONNECTION, useValue: connection },
    ]);
    const { NATS_URL: urls, INGEST_FALLBACK } = shell.config;
    const ingest = IngestModule.register(
      { urls, name: 'platform-connector-ingest' },
      { app: 'platform-connector', hasFallback: INGEST_FALLBACK === 'on' },
    );
    return {
      module: PlatformConnectorModule,
      imports: [
        shared,
        ingest,
        AlarmsModule.register(times),
        PlatformModule,
        LookUpModule,
        SubscriptionsModule,
        EventTypesModule,
        GrantsModule,
        ReconciliationModule,
        RevocationsModule,
        ConnectionsModule,
        SocketsModule,
        UserSocketsModule,
        ClientCallsModule,
        ConduitsModule,
        PicturesModule,
        StatusModule,
        AlarmChecksModule,
      ],
    };
  }
}
