import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Counts changes to a channel's stored events of one day that were made when summaries of that day's streams may already have been saved.
 */
@Entity({ name: 'channel_changes' })
export class ChannelChange {
  /** The channel's id on the platform, or `*` for all channels. */
  @PrimaryColumn('text', { name: 'channel_id' })
  channelId!: string;

  /** The day in UTC, or `-infinity` for all days. */
  @PrimaryColumn('date')
  day!: string;

  @Column('bigint')
  changes!: string;
}
