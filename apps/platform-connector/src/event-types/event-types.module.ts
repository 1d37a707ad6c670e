import { Module } from '@nestjs/common';
import { PlatformModule } from '../platform/platform.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { EventTypesController } from './event-types.controller.js';
import { EventTypesRepository } from './event-types.repository.js';
import { EventTypesService } from './event-types.service.js';

/** Stores which of the platform's event types are active. */
@Module({
  imports: [PlatformModule, SubscriptionsModule],
  controllers: [EventTypesController],
  providers: [EventTypesRepository, EventTypesService],
  exports: [EventTypesService],
})
export class EventTypesModule {}
