import type { TextFilterName } from '@stream-events/contracts';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The text filters of a replay, by the parameter names of the event list. */
export type ReplayedFilters = Partial<Record<TextFilterName, string>>;

export const replayStatuses = ['running', 'done', 'cancelled', 'failed'] as const;
export type ReplayStatus = (typeof replayStatuses)[number];

/** A replay of the events of a time range. */
@Entity({ name: 'replays' })
export class Replay {
  /** A UUIDv7, so ids sort by creation time. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  status!: ReplayStatus;

  @Column('jsonb')
  filters!: ReplayedFilters;

  @Column('timestamptz')
  since!: Date;

  @Column('timestamptz')
  until!: Date;

  /** Events per second. */
  @Column('integer')
  rate!: number;

  /** Name of the live connections that receive the replay. Null: all connections. */
  @Column('text', { name: 'connection_name', nullable: true })
  connectionName!: string | null;

  /** Number of events sent, or skipped as erased. A double is exact up to 2^53, and pg returns it as a number, unlike a bigint. */
  @Column('double precision')
  replayed!: number;

  /** The replay continues after this event id: it has handled all matching events up to there. Null at the start. */
  @Column('uuid', { nullable: true })
  position!: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** User name of the owner who started the replay. */
  @Column('text', { name: 'created_by' })
  createdBy!: string;

  @Column('timestamptz', { name: 'ended_at', nullable: true })
  endedAt!: Date | null;

  /** Why the replay failed. */
  @Column('text', { nullable: true })
  error!: string | null;

  /** Id of the gateway process that runs the replay. */
  @Column('uuid', { name: 'leased_by' })
  leasedBy!: string;

  /** When the lease expires. After that, another gateway takes over a running replay. */
  @Column('timestamptz', { name: 'leased_until' })
  leasedUntil!: Date;
}
