import { Module } from '@nestjs/common';
import { StreamsModule } from '../streams/streams.module.js';
import { EventLog } from './event-log.js';
import { RebuildController } from './rebuild.controller.js';
import { RebuildService } from './rebuild.service.js';
import { RebuildsRepository } from './rebuilds.repository.js';
import { StreamRebuilder } from './stream-rebuilder.service.js';

/** Derives all streams again from the event log. */
@Module({
  imports: [StreamsModule],
  controllers: [RebuildController],
  providers: [EventLog, RebuildService, RebuildsRepository, StreamRebuilder],
  exports: [RebuildService],
})
export class RebuildModule {}
