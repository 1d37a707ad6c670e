import type { RebuildReply } from '@stream-events/contracts';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A rebuild, which derives all streams again from the event log. */
@Entity({ name: 'rebuilds' })
export class Rebuild {
  /** UUIDv7, so the latest rebuild has the highest id. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  state!: Exclude<RebuildReply['state'], 'none'>;

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

  /** Why the rebuild failed. */
  @Column('text', { nullable: true })
  error!: string | null;

  /** The holder of the lease. */
  @Column('uuid', { name: 'leased_by' })
  leasedBy!: string;

  /** When the lease ends. A rebuild that is `running` after this time was abandoned. */
  @Column('timestamptz', { name: 'leased_until' })
  leasedUntil!: Date;
}
