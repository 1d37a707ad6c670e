import { Module } from '@nestjs/common';
import { StreamsModule } from '../streams/streams.module.js';
import { StreamEventsService } from './stream-events.service.js';

/** Stream events: reads stream-online and stream-offline events from the EVENTS stream and records them. */
@Module({
  imports: [StreamsModule],
  providers: [StreamEventsService],
  exports: [StreamEventsService],
})
export class StreamEventsModule {}
