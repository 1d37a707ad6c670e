import { Module } from '@nestjs/common';
import { StoreModule } from '../store/store.module.js';
import { EventIndexBuilder } from './event-index-builder.service.js';
import { RaidChannelBackfill } from './raid-channel-backfill.service.js';

/** Upgrades a store from an earlier version while it is in use: builds new indexes and fills new columns. */
@Module({
  imports: [StoreModule],
  providers: [EventIndexBuilder, RaidChannelBackfill],
  exports: [EventIndexBuilder],
})
export class UpgradeModule {}
