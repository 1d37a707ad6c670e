import { Module } from '@nestjs/common';
import { LiveModule } from '../live/live.module.js';
import { StorageLimits } from './storage-limits.service.js';
import { StoredBytesRepository } from './stored-bytes.repository.js';

/** How much clients may store. */
@Module({
  imports: [LiveModule],
  providers: [StorageLimits, StoredBytesRepository],
  exports: [StorageLimits],
})
export class StorageModule {}
