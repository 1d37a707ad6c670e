import { Module } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';
import { UsersModule } from '../users/users.module.js';
import { LiveController } from './clients/live.controller.js';
import { TokenWatch } from './clients/token-watch.service.js';
import { WebSockets } from './clients/web-sockets.service.js';
import { LiveConnections } from './live-connections.service.js';
import { EventFeed } from './reading/event-feed.service.js';
import { EventHistory } from './reading/event-history.service.js';
import { EventsStream } from './reading/events-stream.js';

@Module({
  imports: [UsersModule],
  controllers: [LiveController],
  providers: [
    EventFeed,
    EventHistory,
    {
      provide: EventsStream,
      inject: [CONFIG],
      useFactory: ({ NATS_URL }: GatewayConfig) =>
        new EventsStream({ urls: NATS_URL, name: 'gateway-live', account: 'EVENTS' }),
    },
    LiveConnections,
    TokenWatch,
    WebSockets,
  ],
  exports: [LiveConnections],
})
export class LiveModule {}
