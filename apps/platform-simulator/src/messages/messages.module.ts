import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { DeliveryCounts } from './delivery-counts.js';
import { DeliveryService } from './delivery.service.js';

@Module({
  imports: [LimitsModule],
  providers: [DeliveryCounts, DeliveryService],
  exports: [DeliveryCounts, DeliveryService],
})
export class MessagesModule {}
