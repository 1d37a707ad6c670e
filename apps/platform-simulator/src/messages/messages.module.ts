import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { DeliveryService } from './delivery.service.js';

/** Signs messages and delivers them to callbacks. */
@Module({ imports: [LimitsModule], providers: [DeliveryService], exports: [DeliveryService] })
export class MessagesModule {}
