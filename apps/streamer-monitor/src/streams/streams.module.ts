import { Module } from '@nestjs/common';
import { MonitoredStreamersRepository } from './monitored-streamers.repository.js';
import { StreamListRepository } from './stream-list.repository.js';
import { StreamMaintenance } from './stream-maintenance.service.js';
import { StreamRecorder } from './stream-recorder.service.js';
import { StreamsController } from './streams.controller.js';
import { StreamsRepository } from './streams.repository.js';

/** Records facts about streams, determines starts and ends, and lists streams. */
@Module({
  controllers: [StreamsController],
  providers: [
    MonitoredStreamersRepository,
    StreamListRepository,
    StreamMaintenance,
    StreamRecorder,
    StreamsRepository,
  ],
  exports: [MonitoredStreamersRepository, StreamMaintenance, StreamRecorder, StreamsRepository],
})
export class StreamsModule {}
