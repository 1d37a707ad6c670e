import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * The number of changes to the stored events of one channel and day that were made when summaries of that day's streams may already have
 * existed.
 */
@Entity({ name: 'channel_changes' })
export class ChannelChange {
  /** The channel's id on the platform; `*` means all channels. */
  @PrimaryColumn('text', { name: 'channel_id' })
  channelId!: string;

  /** In UTC; `-infinity` means all days. */
  @PrimaryColumn('date')
  day!: string;

  @Column('bigint')
  changes!: string;
}
