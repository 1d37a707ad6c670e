import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * The fields from `announcedBy` on are not in the API. A rebuild needs `announcedBy`, and the others determine the stream's end (see
 * `resolve-streams.ts`). Title, category, viewers, language, and thumbnail are empty or 0 until a poll has seen the stream.
 */
@Entity({ name: 'streams' })
export class Stream {
  /** Sorts by start, and stays the same when the stream is recorded again; see `streamRowId`. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'streamer_id' })
  streamerId!: string;

  /** The id on the platform. */
  @Column('text', { name: 'stream_id' })
  streamId!: string;

  @Column('text', { name: 'user_id' })
  userId!: string;

  @Column('text', { name: 'user_login' })
  userLogin!: string;

  @Column('text', { name: 'user_name' })
  userName!: string;

  @Column('text', { name: 'game_id' })
  gameId!: string;

  @Column('text', { name: 'game_name' })
  gameName!: string;

  @Column('text')
  type!: string;

  @Column('text')
  title!: string;

  @Column('integer', { name: 'viewer_count' })
  viewerCount!: number;

  /** The earliest reported start. Events report it to the millisecond, polls to the second. */
  @Column('timestamptz', { name: 'started_at' })
  startedAt!: Date;

  /** Null while the stream is running. */
  @Column('timestamptz', { name: 'ended_at', nullable: true })
  endedAt!: Date | null;

  @Column('text')
  language!: string;

  @Column('text', { name: 'thumbnail_url' })
  thumbnailUrl!: string;

  @Column('text', { name: 'tag_ids', nullable: true })
  tagIds!: string | null;

  @Column('boolean', { name: 'is_mature' })
  isMature!: boolean;

  /** The first event that announced the stream; null when only polls have seen it. */
  @Column('uuid', { name: 'announced_by', nullable: true })
  announcedBy!: string | null;

  /** The platform's time of the latest event that announced the stream; null when only polls have seen it. */
  @Column('timestamptz', { name: 'announced_at', nullable: true })
  announcedAt!: Date | null;

  /** The last poll that saw the stream. */
  @Column('timestamptz', { name: 'seen_at', nullable: true })
  seenAt!: Date | null;

  /** The miss that counts as the end of the stream (see `Misses`). */
  @Column('timestamptz', { name: 'missed_at', nullable: true })
  missedAt!: Date | null;

  /** Whether a second poll has missed the stream. */
  @Column('boolean', { name: 'is_miss_confirmed' })
  isMissConfirmed!: boolean;
}
