import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A user of the platform whose streams the monitor records. */
@Entity({ name: 'streamers' })
export class Streamer {
  /** UUIDv7, which sorts by creation time. */
  @PrimaryColumn('uuid')
  id!: string;

  /** The username as the caller spelled it, unless the platform's spelling differs in more than case. */
  @Column('text', { name: 'platform_username' })
  platformUsername!: string;

  @Column('text', { name: 'platform_id', unique: true })
  platformId!: string;

  /**
   * When a caller last set the username, or the platform last reported a change of it. A report from before this time changes nothing.
   * Polls count as five minutes older than they are, because the platform's list can lag that much.
   */
  @Column('timestamptz', { name: 'named_at' })
  namedAt!: Date;

  /** Whether a stream is running; before the first event or poll, the value that the caller set. */
  @Column('boolean')
  streaming!: boolean;

  /** Whether an event or poll was recorded since the streamer was added, enabled, or disabled. */
  @Column('boolean', { name: 'is_streaming_known' })
  isStreamingKnown!: boolean;

  @Column('boolean')
  disabled!: boolean;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;

  /**
   * When the latest recorded poll was made; null until the first one after the streamer was added, enabled, or disabled. Polls from before
   * this time change nothing, except under the current claim (see `isOutdated`).
   */
  @Column('timestamptz', { name: 'polled_at', nullable: true })
  polledAt!: Date | null;

  /** The first poll in an unbroken series that did not find the streamer live; null if the latest poll did, or without a poll. */
  @Column('timestamptz', { name: 'absent_since', nullable: true })
  absentSince!: Date | null;

  /** When the next poll is due. To claim the poll, an instance sets this to the end of its claim. */
  @Column('timestamptz', { name: 'next_poll_at' })
  nextPollAt!: Date;

  /** When the next lookup of the username is due; instances claim it like a poll. */
  @Column('timestamptz', { name: 'next_naming_at' })
  nextNamingAt!: Date;
}
