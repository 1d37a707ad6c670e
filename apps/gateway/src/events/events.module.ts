import { Module } from '@nestjs/common';
import { PagingModule } from '../paging/paging.module.js';
import { EventIngest } from './event-ingest.service.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';

@Module({
  imports: [PagingModule],
  controllers: [EventsController],
  providers: [EventIngest, EventsService],
  exports: [EventIngest, EventsService],
})
export class EventsModule {}
