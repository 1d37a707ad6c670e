import { Module } from '@nestjs/common';
import { OutboxRepository } from './outbox.repository.js';
import { PublicationController } from './publication.controller.js';
import { Relay } from './relay.service.js';
import { StreamCheck } from './stream-check.service.js';
import { StreamRecordRepository } from './stream-record.repository.js';
import { StreamWatch } from './stream-watch.service.js';

@Module({
  controllers: [PublicationController],
  providers: [OutboxRepository, Relay, StreamCheck, StreamRecordRepository, StreamWatch],
  exports: [Relay, StreamRecordRepository],
})
export class RelayModule {}
