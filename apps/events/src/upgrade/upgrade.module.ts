import { Module } from '@nestjs/common';
import { StoreModule } from '../store/store.module.js';
import { EventIndexBuilder } from './event-index-builder.service.js';
import { RaidChannelBackfill } from './raid-channel-backfill.service.js';

/** Brings the store of an earlier version up to date while the store is in use: builds new indexes, and fills new columns. */
@Module({
  imports: [StoreModule],
  providers: [EventIndexBuilder, RaidChannelBackfill],
  exports: [EventIndexBuilder],
})
export class UpgradeModule {}
