import { Module } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import { EventsModule } from '../events/events.module.js';
import type { GatewayConfig } from '../gateway.config.js';
import { IngestFallback } from './ingest-fallback.service.js';
import { IngestPublisher } from './ingest-publisher.js';
import { WebhookController } from './webhook.controller.js';
import { WebhookService } from './webhook.service.js';

@Module({
  imports: [EventsModule],
  controllers: [WebhookController],
  providers: [
    IngestFallback,
    {
      provide: IngestPublisher,
      inject: [CONFIG],
      useFactory: ({ NATS_URL }: GatewayConfig) =>
        new IngestPublisher({ urls: NATS_URL, name: 'gateway-ingest' }),
    },
    WebhookService,
  ],
})
export class WebhookModule {}
