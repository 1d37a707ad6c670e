import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How long samples are kept: about a year and a month, so that users can compare two streams a year apart. An SQL expression. */
export const samplesKeptFor = "interval '400 days'";

/** A stream's title, category, and number of viewers at one time. */
@Entity({ name: 'stream_samples' })
export class StreamSample {
  /** The id of the stream's row. */
  @PrimaryColumn('uuid')
  stream!: string;

  @PrimaryColumn('timestamptz')
  at!: Date;

  @Column('integer', { name: 'viewer_count' })
  viewerCount!: number;

  @Column('text')
  title!: string;

  @Column('text', { name: 'game_id' })
  gameId!: string;

  @Column('text', { name: 'game_name' })
  gameName!: string;
}

/** A deleted stream whose samples maintenance must still remove. */
@Entity({ name: 'removed_streams' })
export class RemovedStream {
  @PrimaryColumn('uuid')
  id!: string;

  /** Later samples stay, because the same stream was recorded again. */
  @Column('timestamptz', { name: 'removed_at' })
  removedAt!: Date;
}
