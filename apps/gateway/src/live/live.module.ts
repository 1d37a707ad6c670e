import { Module } from '@nestjs/common';
import { RequestClient } from '@stream-events/messaging';
import { CONFIG, LOGGER, type Logger } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';
import { AccessModule } from '../access/access.module.js';
import { LiveController } from './transports/live.controller.js';
import { TokenWatch } from './connections/token-watch.service.js';
import { WEB_SOCKET_OPTIONS, WebSockets, type WebSocketOptions } from './transports/web-sockets.service.js';
import { webSocketLimits } from './live-limits.js';
import { LiveControlsController } from './controls/live-controls.controller.js';
import { LiveConnections } from './connections/live-connections.service.js';
import { NamedConnections } from './connections/named-connections.js';
import { ErasedMessages } from './stream/erased-messages.js';
import { ErasureWatch } from './stream/erasure-watch.service.js';
import { EventFeed } from './stream/event-feed.service.js';
import { EventHistory } from './stream/event-history.service.js';
import { EventsStreamClient } from './stream/events-stream-client.js';

@Module({
  imports: [AccessModule],
  controllers: [LiveController, LiveControlsController],
  providers: [
    ErasedMessages,
    ErasureWatch,
    EventFeed,
    EventHistory,
    {
      provide: EventsStreamClient,
      inject: [CONFIG, RequestClient],
      useFactory: ({ NATS_URL }: GatewayConfig, { tracing }: RequestClient) =>
        new EventsStreamClient({ urls: NATS_URL, name: 'gateway-live', account: 'EVENTS', tracing }),
    },
    LiveConnections,
    {
      provide: NamedConnections,
      inject: [CONFIG, LiveConnections, LOGGER],
      useFactory: ({ NATS_URL }: GatewayConfig, live: LiveConnections, logger: Logger) =>
        new NamedConnections({ urls: NATS_URL, name: 'gateway-connections' }, live, logger),
    },
    TokenWatch,
    {
      provide: WEB_SOCKET_OPTIONS,
      inject: [CONFIG],
      useFactory: ({ TAU_COMPATIBILITY }: GatewayConfig): WebSocketOptions => ({
        ...webSocketLimits,
        plainFormat: TAU_COMPATIBILITY === 'on' ? 'tau' : 'plain',
      }),
    },
    WebSockets,
  ],
  exports: [ErasureWatch, EventsStreamClient, LiveConnections, NamedConnections],
})
export class LiveModule {}
