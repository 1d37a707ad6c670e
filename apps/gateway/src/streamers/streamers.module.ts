import { Module } from '@nestjs/common';
import { AuditLogModule } from '../audit-log/audit-log.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { RebuildController } from './rebuild.controller.js';
import { StreamersController } from './streamers.controller.js';
import { StreamSummaryController } from './stream-summary.controller.js';
import { StreamsController } from './streams.controller.js';

@Module({
  imports: [AuditLogModule, PagingModule],
  controllers: [RebuildController, StreamersController, StreamsController, StreamSummaryController],
})
export class StreamersModule {}
