import { Module, type DynamicModule } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import { RequestClient } from '@stream-events/messaging';
import { ShellModule, type Shell } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { EVENTS_CONNECTION, StreamEventsService } from './consuming/stream-events.service.js';
import { ClaimsRepository } from './polling/claims.repository.js';
import { Naming } from './polling/naming.service.js';
import { PollRecorder } from './polling/poll-recorder.service.js';
import { Poller } from './polling/poller.service.js';
import { EventLog } from './rebuild/event-log.js';
import { RebuildController } from './rebuild/rebuild.controller.js';
import { RebuildService } from './rebuild/rebuild.service.js';
import { RebuildsRepository } from './rebuild/rebuilds.repository.js';
import { StreamRebuilder } from './rebuild/stream-rebuilder.service.js';
import { MonitoredStreamersRepository } from './streamers/monitored-streamers.repository.js';
import { StreamersController } from './streamers/streamers.controller.js';
import { StreamersService } from './streamers/streamers.service.js';
import { SubscriptionHint } from './streamers/subscription-hint.js';
import { UserLookUp } from './streamers/user-look-up.js';
import { StreamListRepository } from './streams/stream-list.repository.js';
import { StreamMaintenance } from './streams/stream-maintenance.service.js';
import { StreamRecorder } from './streams/stream-recorder.service.js';
import { StreamsController } from './streams/streams.controller.js';
import { StreamsRepository } from './streams/streams.repository.js';

/** What is connected before the module is made. */
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
    return {
      module: StreamerMonitorModule,
      imports: [ShellModule.register(shell)],
      controllers: [RebuildController, StreamersController, StreamsController],
      providers: [
        { provide: DataSource, useValue: dataSource },
        { provide: RequestClient, useValue: client },
        { provide: EVENTS_CONNECTION, useValue: connection },
        ClaimsRepository,
        StreamEventsService,
        EventLog,
        MonitoredStreamersRepository,
        Naming,
        Poller,
        PollRecorder,
        RebuildService,
        RebuildsRepository,
        StreamersService,
        StreamListRepository,
        StreamMaintenance,
        StreamRebuilder,
        StreamRecorder,
        StreamsRepository,
        SubscriptionHint,
        UserLookUp,
      ],
    };
  }
}
