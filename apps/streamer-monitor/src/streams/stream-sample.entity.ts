import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a stream looked like at a moment. */
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

/** A stream that is gone, while its samples are not yet. */
@Entity({ name: 'removed_streams' })
export class RemovedStream {
  @PrimaryColumn('uuid')
  id!: string;

  /** Later samples are those of a stream that was recorded again. */
  @Column('timestamptz', { name: 'removed_at' })
  removedAt!: Date;
}
