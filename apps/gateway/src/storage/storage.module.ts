import { Module } from '@nestjs/common';
import { LiveModule } from '../live/live.module.js';
import { StorageLimits } from './storage-limits.service.js';
import { StoredBytesRepository } from './stored-bytes.repository.js';

/** Limits how much clients can store. */
@Module({
  imports: [LiveModule],
  providers: [StorageLimits, StoredBytesRepository],
  exports: [StorageLimits],
})
export class StorageModule {}
