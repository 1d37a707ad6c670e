import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The title, category, and viewers of a stream at a time. */
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

  /** Samples after this time are kept, because they belong to the same stream, which was recorded again. */
  @Column('timestamptz', { name: 'removed_at' })
  removedAt!: Date;
}
