import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ReplayedFilters, ReplayStatus } from '../replays/replay.entity.js';

/** A replay with the original timing. It goes to those live connections of one user that have the given name. */
@Entity({ name: 'rehearsals' })
export class Rehearsal {
  /** UUIDv7: sorts by creation time. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  status!: ReplayStatus;

  /** The user whose connections receive the events. */
  @Column('uuid', { name: 'user_id' })
  userId!: string;

  @Column('text', { name: 'connection_name' })
  connectionName!: string;

  /** Null for a time range. */
  @Column('uuid', { name: 'streamer_id', nullable: true })
  streamerId!: string | null;

  /** The replayed stream. Null for a time range. */
  @Column('uuid', { name: 'stream_id', nullable: true })
  streamId!: string | null;

  @Column('jsonb')
  filters!: ReplayedFilters;

  @Column('timestamptz')
  since!: Date;

  @Column('timestamptz')
  until!: Date;

  /** Playback speed: at 2, one real second plays two seconds of the stream. */
  @Column('double precision')
  speed!: number;

  @Column('boolean', { name: 'is_paused' })
  isPaused!: boolean;

  /** The stream time that the rehearsal has reached. */
  @Column('timestamptz', { name: 'reached_at' })
  reachedAt!: Date;

  /** Id of the last event handled in this pass. Null before the first event: reading then starts at `reachedAt`. */
  @Column('uuid', { nullable: true })
  position!: string | null;

  /** Number of seeks. Each one begins a new pass. */
  @Column('integer')
  pass!: number;

  /** Number of changes by clients. A gateway that does not know the latest change cannot end the rehearsal. */
  @Column('integer')
  revision!: number;

  /** Number of events sent, or skipped as erased, in all passes. */
  @Column('integer')
  sent!: number;

  /** How many connections received the last message. */
  @Column('integer')
  connections!: number;

  /** When the rehearsal last played or a client last changed it. An idle rehearsal ends after `maxIdleHours`. */
  @Column('timestamptz', { name: 'moved_at' })
  movedAt!: Date;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** Name of the user who started the rehearsal. */
  @Column('text', { name: 'created_by' })
  createdBy!: string;

  @Column('timestamptz', { name: 'ended_at', nullable: true })
  endedAt!: Date | null;

  /** Why the rehearsal failed. */
  @Column('text', { nullable: true })
  error!: string | null;

  /** The gateway process that runs the rehearsal. */
  @Column('uuid', { name: 'leased_by' })
  leasedBy!: string;

  /** When the lease expires. Another gateway can then take over the running rehearsal. */
  @Column('timestamptz', { name: 'leased_until' })
  leasedUntil!: Date;
}
