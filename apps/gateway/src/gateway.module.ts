import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { RequestClient } from '@stream-events/messaging';
import { ShellModule, type Shell } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { ApiEndpointsController } from './api-endpoints/api-endpoints.controller.js';
import { EventsController } from './events/events.controller.js';
import { EventsService } from './events/events.service.js';
import type { GatewayConfig } from './gateway.config.js';
import { HealthController } from './http/health.controller.js';
import { ProblemFilter } from './http/problem.filter.js';
import { PublicUrl } from './http/public-url.js';
import { RouteMethods } from './http/route-methods.js';
import { EventIngest } from './events/event-ingest.service.js';
import { EventFeed } from './live/reading/event-feed.service.js';
import { EventHistory } from './live/reading/event-history.service.js';
import { LiveConnections } from './live/live-connections.service.js';
import { LiveController } from './live/clients/live.controller.js';
import { TokenWatch } from './live/clients/token-watch.service.js';
import { WebSockets } from './live/clients/web-sockets.service.js';
import { EventsStream } from './live/reading/events-stream.js';
import { ListLinks } from './paging/list-links.js';
import { DeadLettersController } from './dead-letters/dead-letters.controller.js';
import { PlatformController } from './platform/platform.controller.js';
import { EventReplayController } from './replays/event-replay.controller.js';
import { ReplayChannel } from './replays/replay-channel.js';
import { ReplayRunner } from './replays/replay-runner.service.js';
import { ReplaysController } from './replays/replays.controller.js';
import { ReplaysRepository } from './replays/replays.repository.js';
import { ScopesController } from './scopes/scopes.controller.js';
import { RebuildController } from './streamers/rebuild.controller.js';
import { StreamersController } from './streamers/streamers.controller.js';
import { StreamsController } from './streamers/streams.controller.js';
import { AccessGuard } from './users/access.guard.js';
import { AccessTokens } from './users/access-tokens.service.js';
import { LoginController } from './users/login.controller.js';
import { LoginFailures } from './users/login-failures.repository.js';
import { UsersController } from './users/users.controller.js';
import { UsersService } from './users/users.service.js';
import { IngestFallback } from './webhook/ingest-fallback.service.js';
import { IngestPublisher } from './webhook/ingest-publisher.js';
import { WebhookController } from './webhook/webhook.controller.js';
import { WebhookService } from './webhook/webhook.service.js';

/** What is made before the module. */
export interface GatewayConnections {
  dataSource: DataSource;
  client: RequestClient;
  ingestPublisher: IngestPublisher;
  eventsStream: EventsStream;
  replayChannel: ReplayChannel;
  routes: RouteMethods;
}

@Module({})
export class GatewayModule {
  static register(
    shell: Shell<GatewayConfig>,
    { dataSource, client, ingestPublisher, eventsStream, replayChannel, routes }: GatewayConnections,
  ): DynamicModule {
    return {
      module: GatewayModule,
      imports: [ShellModule.register(shell)],
      // Fixed paths come before ids: the webhook's and the stream's before the event's, rebuilding before the streamer's.
      controllers: [
        HealthController,
        LoginController,
        UsersController,
        WebhookController,
        LiveController,
        EventsController,
        EventReplayController,
        ReplaysController,
        DeadLettersController,
        RebuildController,
        StreamersController,
        StreamsController,
        PlatformController,
        ScopesController,
        ApiEndpointsController,
      ],
      providers: [
        { provide: DataSource, useValue: dataSource },
        { provide: RequestClient, useValue: client },
        { provide: IngestPublisher, useValue: ingestPublisher },
        { provide: EventsStream, useValue: eventsStream },
        { provide: ReplayChannel, useValue: replayChannel },
        { provide: RouteMethods, useValue: routes },
        { provide: APP_FILTER, useClass: ProblemFilter },
        { provide: APP_GUARD, useClass: AccessGuard },
        AccessTokens,
        EventFeed,
        EventHistory,
        EventIngest,
        EventsService,
        IngestFallback,
        ListLinks,
        LiveConnections,
        LoginFailures,
        PublicUrl,
        TokenWatch,
        ReplayRunner,
        ReplaysRepository,
        UsersService,
        WebhookService,
        WebSockets,
      ],
    };
  }
}
