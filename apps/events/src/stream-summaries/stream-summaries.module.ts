import { Module } from '@nestjs/common';
import { RetentionModule } from '../retention/retention.module.js';
import { StoreModule } from '../store/store.module.js';
import { KeptEvents } from './kept-events.js';
import { SavedSummaries } from './saved-summaries.repository.js';
import { StreamSummariesController } from './stream-summaries.controller.js';
import { StreamSummaries } from './stream-summaries.service.js';
import { SummariesRepository } from './summaries.repository.js';
import { SummaryMaintenance } from './summary-maintenance.service.js';

@Module({
  imports: [RetentionModule, StoreModule],
  controllers: [StreamSummariesController],
  providers: [KeptEvents, SavedSummaries, StreamSummaries, SummariesRepository, SummaryMaintenance],
  exports: [StreamSummaries],
})
export class StreamSummariesModule {}
