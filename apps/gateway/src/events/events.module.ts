import { Module } from '@nestjs/common';
import { PagingModule } from '../paging/paging.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';

@Module({
  imports: [PagingModule, StorageModule],
  controllers: [EventsController],
  providers: [EventsService],
  exports: [EventsService],
})
export class EventsModule {}
