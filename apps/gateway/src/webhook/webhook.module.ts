import { Module } from '@nestjs/common';
import { HttpModule } from '../http/http.module.js';
import { MessageClock } from './message-clock.js';
import { WebhookController } from './webhook.controller.js';
import { WebhookRoute } from './webhook-route.js';
import { WebhookService } from './webhook.service.js';

@Module({
  imports: [HttpModule],
  controllers: [WebhookController],
  providers: [MessageClock, WebhookRoute, WebhookService],
})
export class WebhookModule {}
