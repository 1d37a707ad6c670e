import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A user of the platform whose streams are recorded. */
@Entity({ name: 'streamers' })
export class Streamer {
  /** UUIDv7: sorts by the time of creation. */
  @PrimaryColumn('uuid')
  id!: string;

  /** As the caller wrote it, while the platform has the same name in any case. */
  @Column('text', { name: 'platform_username' })
  platformUsername!: string;

  @Column('text', { name: 'platform_id', unique: true })
  platformId!: string;

  /** When the platform last said the name: an older word of it, which comes late, changes nothing. */
  @Column('timestamptz', { name: 'named_at' })
  namedAt!: Date;

  /** Whether a stream is running; what the caller said while that is not known. */
  @Column('boolean')
  streaming!: boolean;

  /** Whether the platform has said anything about streams since the streamer is monitored. */
  @Column('boolean', { name: 'is_streaming_known' })
  isStreamingKnown!: boolean;

  @Column('boolean')
  disabled!: boolean;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;

  /** When the platform was asked last, of what is applied: an older answer, which comes late, changes nothing. */
  @Column('timestamptz', { name: 'polled_at', nullable: true })
  polledAt!: Date | null;

  /** The first of the polls in a row, up to the last one, that have not found the streamer live; null when it was live. */
  @Column('timestamptz', { name: 'absent_since', nullable: true })
  absentSince!: Date | null;

  /** When to ask the platform for the stream; who asks sets it ahead, so that nobody else does. */
  @Column('timestamptz', { name: 'next_poll_at' })
  nextPollAt!: Date;

  /** When to ask the platform for the name, in the same way. */
  @Column('timestamptz', { name: 'next_naming_at' })
  nextNamingAt!: Date;
}
