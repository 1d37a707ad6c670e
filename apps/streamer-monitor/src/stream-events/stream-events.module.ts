import { Module } from '@nestjs/common';
import { StreamsModule } from '../streams/streams.module.js';
import { StreamEventsConsumer } from './stream-events.consumer.js';

/** Reads stream-online and stream-offline events from the EVENTS stream and records them. */
@Module({
  imports: [StreamsModule],
  providers: [StreamEventsConsumer],
  exports: [StreamEventsConsumer],
})
export class StreamEventsModule {}
