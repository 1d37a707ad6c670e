import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How long samples are kept: about a year and a month, so that users can compare two streams a year apart. An SQL expression. */
export const samplesKeptFor = "interval '400 days'";

/** The title, category, and number of viewers of a stream at one point in time. */
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

/** A deleted stream whose samples must still be removed. */
@Entity({ name: 'removed_streams' })
export class RemovedStream {
  @PrimaryColumn('uuid')
  id!: string;

  /** Samples that were recorded after this time are kept: the same stream was recorded again after the deletion. */
  @Column('timestamptz', { name: 'removed_at' })
  removedAt!: Date;
}
