import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ReplayedFilters, ReplayStatus } from '../replays/replay.entity.js';

/** A replay with the original timing, to the live connections of one user that share one name. */
@Entity({ name: 'rehearsals' })
export class Rehearsal {
  /** A UUIDv7, so ids sort by creation time. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  status!: ReplayStatus;

  /** The user whose connections receive the rehearsal. */
  @Column('uuid', { name: 'user_id' })
  userId!: string;

  @Column('text', { name: 'connection_name' })
  connectionName!: string;

  /** The streamer of the stream. Null for a time range. */
  @Column('uuid', { name: 'streamer_id', nullable: true })
  streamerId!: string | null;

  /** The stream. Null for a time range. */
  @Column('uuid', { name: 'stream_id', nullable: true })
  streamId!: string | null;

  @Column('jsonb')
  filters!: ReplayedFilters;

  @Column('timestamptz')
  since!: Date;

  @Column('timestamptz')
  until!: Date;

  /** Playback speed: seconds of the stream per second of real time. */
  @Column('double precision')
  speed!: number;

  @Column('boolean', { name: 'is_paused' })
  isPaused!: boolean;

  /** The time in the stream that the rehearsal has reached. */
  @Column('timestamptz', { name: 'reached_at' })
  reachedAt!: Date;

  /** Id of the last handled event of this pass. Null before the first event: the pass then starts reading at `reachedAt`. */
  @Column('uuid', { nullable: true })
  position!: string | null;

  /** Number of seeks. Each seek begins a new pass. */
  @Column('integer')
  pass!: number;

  /** Number of changes by clients. A gateway can save progress only if it knows the latest change. */
  @Column('integer')
  revision!: number;

  /** Number of events sent, in all passes. */
  @Column('integer')
  sent!: number;

  /** Number of connections that received the last message. */
  @Column('integer')
  connections!: number;

  /** When the rehearsal last played, or when a client last changed it. */
  @Column('timestamptz', { name: 'moved_at' })
  movedAt!: Date;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** User name of the user who started the rehearsal. */
  @Column('text', { name: 'created_by' })
  createdBy!: string;

  @Column('timestamptz', { name: 'ended_at', nullable: true })
  endedAt!: Date | null;

  /** Why the rehearsal failed. */
  @Column('text', { nullable: true })
  error!: string | null;

  /** Id of the gateway process that runs the rehearsal. */
  @Column('uuid', { name: 'leased_by' })
  leasedBy!: string;

  /** When the lease expires. After that, another gateway takes over a running rehearsal. */
  @Column('timestamptz', { name: 'leased_until' })
  leasedUntil!: Date;
}
