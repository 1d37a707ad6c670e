import { Module } from '@nestjs/common';
import { RelayModule } from '../relay/relay.module.js';
import { StoreModule } from '../store/store.module.js';
import { PartitionRemover } from './partition-remover.service.js';
import { RetentionRepository } from './retention.repository.js';
import { Retention } from './retention.service.js';
import { StreamTrimmer } from './stream-trimmer.service.js';

@Module({
  imports: [RelayModule, StoreModule],
  providers: [PartitionRemover, Retention, RetentionRepository, StreamTrimmer],
  exports: [RetentionRepository],
})
export class RetentionModule {}
