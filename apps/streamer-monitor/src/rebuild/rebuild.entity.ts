import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A rebuilding of all streams from the event log. */
@Entity({ name: 'rebuilds' })
export class Rebuild {
  /** UUIDv7: the latest is the highest. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  state!: 'running' | 'done' | 'failed';

  @Column('integer', { name: 'streamers_done' })
  streamersDone!: number;

  @Column('integer', { name: 'streamers_total' })
  streamersTotal!: number;

  @Column('integer', { name: 'streams_changed' })
  streamsChanged!: number;

  @Column('timestamptz', { name: 'started_at' })
  startedAt!: Date;

  @Column('timestamptz', { name: 'ended_at', nullable: true })
  endedAt!: Date | null;

  /** Why it failed. */
  @Column('text', { nullable: true })
  error!: string | null;

  /** Its instance lives until then at least; after that, one that still runs has been abandoned. */
  @Column('timestamptz', { name: 'leased_until' })
  leasedUntil!: Date;
}
