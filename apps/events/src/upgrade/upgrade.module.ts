import { Module } from '@nestjs/common';
import { EventIndexBuilder } from './event-index-builder.service.js';
import { RaidChannelBackfill } from './raid-channel-backfill.service.js';

/** Brings the events of earlier versions up to date while the store is in use: their indexes, and columns that were added. */
@Module({
  providers: [EventIndexBuilder, RaidChannelBackfill],
  exports: [EventIndexBuilder],
})
export class UpgradeModule {}
