import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How often the stored events of a channel and a day have changed after that day's streams may have been summarized. */
@Entity({ name: 'channel_changes' })
export class ChannelChange {
  /** The platform's id of the channel; `*` means all channels. */
  @PrimaryColumn('text', { name: 'channel_id' })
  channelId!: string;

  /** In UTC; `-infinity` means all days. */
  @PrimaryColumn('date')
  day!: string;

  @Column('bigint')
  changes!: string;
}
