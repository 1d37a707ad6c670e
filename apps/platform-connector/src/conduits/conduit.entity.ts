import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The conduit of this installation. Other conduits of the application belong to other installations. */
@Entity({ name: 'conduits' })
export class Conduit {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  /** The conduit's id on the platform; null until the platform has created the conduit. */
  @Column('text', { name: 'conduit_id', nullable: true })
  conduitId!: string | null;

  /** The number of shards on the platform. */
  @Column('integer', { name: 'shard_count' })
  shardCount!: number;

  /** Whether the conduit must be deleted, because another transport is configured and no subscription uses the conduit. */
  @Column('boolean', { name: 'is_retired', default: false })
  isRetired!: boolean;

  /** Why the conduit could not be created, and what to do; null without a failure. */
  @Column('text', { nullable: true })
  problem!: string | null;

  @Column('timestamptz', { name: 'check_due_at', default: () => 'now()' })
  checkDueAt!: Date;

  /** When the platform last listed the shards. */
  @Column('timestamptz', { name: 'checked_at', nullable: true })
  checkedAt!: Date | null;
}
