import { Module, type DynamicModule } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import { EVENTS_CONNECTION, RequestClient } from '@stream-events/messaging';
import { ShellModule, type Shell } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { PollingModule } from './polling/polling.module.js';
import { RebuildModule } from './rebuild/rebuild.module.js';
import { StreamEventsModule } from './stream-events/stream-events.module.js';
import { StreamersModule } from './streamers/streamers.module.js';
import { StreamsModule } from './streams/streams.module.js';

/** The connections that the app opens before it creates this module. */
export interface StreamerMonitorConnections {
  dataSource: DataSource;
  /** For requests to the platform connector and the events service. */
  client: RequestClient;
  /** For reading the EVENTS stream. */
  connection: NatsConnection;
}

@Module({})
export class StreamerMonitorModule {
  static register(
    shell: Shell<unknown>,
    { dataSource, client, connection }: StreamerMonitorConnections,
  ): DynamicModule {
    const shared = ShellModule.register(shell, [
      { provide: DataSource, useValue: dataSource },
      { provide: RequestClient, useValue: client },
      { provide: EVENTS_CONNECTION, useValue: connection },
    ]);
    return {
      module: StreamerMonitorModule,
      imports: [shared, StreamsModule, PollingModule, StreamersModule, StreamEventsModule, RebuildModule],
    };
  }
}
