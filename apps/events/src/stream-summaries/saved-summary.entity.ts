import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The saved summary of an ended stream, and everything on which it depends. */
@Entity({ name: 'stream_summaries' })
export class SavedSummary {
  /** The id of the stream. */
  @PrimaryColumn('uuid')
  stream!: string;

  @Column('text', { name: 'channel_id' })
  channelId!: string;

  @Column('timestamptz', { name: 'started_at' })
  startedAt!: Date;

  @Column('timestamptz', { name: 'ended_at' })
  endedAt!: Date;

  /** Retention had removed the events before this time; null when it had removed none of the stream. */
  @Column('timestamptz', { name: 'kept_from', nullable: true })
  keptFrom!: Date | null;

  /** The number of changes to the channel's events that the summary reflects; see `ChannelChanges`. */
  @Column('bigint')
  changes!: string;

  /** The version of the computation. */
  @Column('integer')
  version!: number;

  /** A `StreamSummaryMessage`. */
  @Column('json')
  summary!: object;
}
