import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A user of the platform whose streams are recorded. */
@Entity({ name: 'streamers' })
export class Streamer {
  /** UUIDv7: sorts by the time of creation. */
  @PrimaryColumn('uuid')
  id!: string;

  /** The username in the caller's spelling, as long as the platform's spelling differs only in case. */
  @Column('text', { name: 'platform_username' })
  platformUsername!: string;

  @Column('text', { name: 'platform_id', unique: true })
  platformId!: string;

  /**
   * The time of the latest report from the platform that changed the username. Older reports that arrive later change nothing. A poll counts
   * as five minutes older, because the platform's list can be so old.
   */
  @Column('timestamptz', { name: 'named_at' })
  namedAt!: Date;

  /** Whether a stream is running. Until the first event or poll, the value that the caller set. */
  @Column('boolean')
  streaming!: boolean;

  /** Whether an event or a poll has reported anything since monitoring started. */
  @Column('boolean', { name: 'is_streaming_known' })
  isStreamingKnown!: boolean;

  @Column('boolean')
  disabled!: boolean;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;

  /**
   * The time of the latest recorded poll; null until the first poll after the streamer was added, enabled, or disabled. Older polls that are
   * recorded later change nothing, except under the current claim (see `isOutdated`).
   */
  @Column('timestamptz', { name: 'polled_at', nullable: true })
  polledAt!: Date | null;

  /**
   * The time of the first poll in the latest run of polls that did not find the streamer live; null when the latest poll found the streamer
   * live.
   */
  @Column('timestamptz', { name: 'absent_since', nullable: true })
  absentSince!: Date | null;

  /** When the streamer is due for a poll. An instance that claims the poll sets this to the end of its claim. */
  @Column('timestamptz', { name: 'next_poll_at' })
  nextPollAt!: Date;

  /** When the streamer is due for a look-up of its username. An instance claims the look-up in the same way as a poll. */
  @Column('timestamptz', { name: 'next_naming_at' })
  nextNamingAt!: Date;
}
