import type { ErasureCounts, ErasureStage } from '@stream-events/contracts';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An erasure of one platform user, or a dry run of one. Rows stay: the hash keeps late messages of the user out of the store. */
@Entity({ name: 'erasures' })
export class Erasure {
  /** UUIDv7: erasures run in the order of their ids, one at a time. */
  @PrimaryColumn('uuid')
  id!: string;

  /** Null when the erasure has ended. */
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

  /** Where the stage continues. Its form depends on the stage; null at the beginning. */
  @Column('jsonb', { nullable: true })
  position!: unknown;

  /** How far the stage is, from 0 to 1. */
  @Column('double precision')
  progress!: number;

  @Column('jsonb')
  counts!: ErasureCounts;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** Events that were received until then are erased. */
  @Column('timestamptz', { name: 'erases_until' })
  erasesUntil!: Date;

  @Column('timestamptz', { name: 'ended_at', nullable: true })
  endedAt!: Date | null;

  /** Why the last attempt to continue failed. */
  @Column('text', { nullable: true })
  error!: string | null;

  /** The instance that runs the erasure. */
  @Column('uuid', { name: 'leased_by', nullable: true })
  leasedBy!: string | null;

  @Column('timestamptz', { name: 'leased_until' })
  leasedUntil!: Date;
}
