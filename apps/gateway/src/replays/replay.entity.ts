import type { TextFilterName } from '@stream-events/contracts';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The filters of the event list, by the names of its parameters. */
export type ReplayedFilters = Partial<Record<TextFilterName, string>>;

export const replayStatuses = ['running', 'done', 'cancelled', 'failed'] as const;
export type ReplayStatus = (typeof replayStatuses)[number];

/** Events of a range of time that go out again. */
@Entity({ name: 'replays' })
export class Replay {
  /** UUIDv7: the newest is the highest. */
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

  /** Events a second. */
  @Column('integer')
  rate!: number;

  /** The live connections that it is meant for; null: all. */
  @Column('text', { name: 'connection_name', nullable: true })
  connectionName!: string | null;

  /** How many events went out. */
  @Column('integer')
  replayed!: number;

  /** The id up to which the range is dealt with; null before the first. */
  @Column('uuid', { nullable: true })
  position!: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** User name of the owner who wanted it. */
  @Column('text', { name: 'created_by' })
  createdBy!: string;

  @Column('timestamptz', { name: 'ended_at', nullable: true })
  endedAt!: Date | null;

  /** Why it failed. */
  @Column('text', { nullable: true })
  error!: string | null;

  /** The gateway process that does it. */
  @Column('uuid', { name: 'leased_by' })
  leasedBy!: string;

  /** That gateway lives until then at least; after that, another one takes a running replay over. */
  @Column('timestamptz', { name: 'leased_until' })
  leasedUntil!: Date;
}
