import { Module } from '@nestjs/common';
import { StoreModule } from '../store/store.module.js';
import { EventListController } from './event-list.controller.js';
import { EventListRepository } from './event-list.repository.js';
import { EventStatistics } from './event-statistics.js';
import { PageReader } from './page-reader.js';
import { PartitionCatalog } from './partition-catalog.js';
import { StatementRunner } from './statement-runner.js';

@Module({
  imports: [StoreModule],
  controllers: [EventListController],
  providers: [EventListRepository, EventStatistics, PageReader, PartitionCatalog, StatementRunner],
  exports: [EventListRepository],
})
export class EventListModule {}
