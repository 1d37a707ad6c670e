import { Module } from '@nestjs/common';
import { HttpModule } from '../http/http.module.js';
import { WebhookController } from './webhook.controller.js';
import { WebhookRoute } from './webhook-route.js';
import { WebhookService } from './webhook.service.js';

@Module({
  imports: [HttpModule],
  controllers: [WebhookController],
  providers: [WebhookRoute, WebhookService],
})
export class WebhookModule {}
