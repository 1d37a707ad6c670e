import type { ErasureCounts, ErasureStage } from '@stream-events/contracts';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * An erasure of one platform user, or a dry run of such an erasure. The service never deletes a row: the hash keeps the user's late
 * messages out of the store. Only a restore without the hash key deletes ended erasures (see `forgetUserHashes`).
 */
@Entity({ name: 'erasures' })
export class Erasure {
  /** UUIDv7: erasures run in the order of their ids, one at a time. */
  @PrimaryColumn('uuid')
  id!: string;

  /** Null when only the hash of the id is known, and once the erasure has ended. */
  @Column('text', { name: 'platform_user_id', nullable: true })
  platformUserId!: string | null;

  /** See `UserHasher`. */
  @Column('text', { name: 'user_hash' })
  userHash!: string;

  @Column('boolean', { name: 'is_dry_run' })
  isDryRun!: boolean;

  @Column('text')
  stage!: ErasureStage;

  @Column('timestamptz', { name: 'stage_began_at' })
  stageBeganAt!: Date;

  /** Where the stage continues; each stage has its own format. Null at the beginning of a stage. */
  @Column('jsonb', { nullable: true })
  position!: unknown;

  /** The progress of the stage, from 0 to 1. */
  @Column('double precision')
  progress!: number;

  @Column('jsonb')
  counts!: ErasureCounts;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** Only events that were received up to this time are erased. */
  @Column('timestamptz', { name: 'erases_until' })
  erasesUntil!: Date;

  @Column('timestamptz', { name: 'ended_at', nullable: true })
  endedAt!: Date | null;

  /** Why the last attempt to continue the erasure failed. */
  @Column('text', { nullable: true })
  error!: string | null;

  /** The holder of the lease: a new UUID each time an instance claims the erasure. */
  @Column('uuid', { name: 'leased_by', nullable: true })
  leasedBy!: string | null;

  @Column('timestamptz', { name: 'leased_until' })
  leasedUntil!: Date;
}
