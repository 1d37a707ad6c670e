import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The conduit of this installation. Other conduits of the application belong to other installations. */
@Entity({ name: 'conduits' })
export class Conduit {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  /** Null until the platform has created it. */
  @Column('text', { name: 'conduit_id', nullable: true })
  conduitId!: string | null;

  /** The number of shards on the platform. */
  @Column('integer', { name: 'shard_count' })
  shardCount!: number;

  /** Whether subscriptions have another transport now, and none is left on the conduit. It is then deleted. */
  @Column('boolean', { name: 'is_retired', default: false })
  isRetired!: boolean;

  /** Why there is no conduit, and what to do; null when there is one. */
  @Column('text', { nullable: true })
  problem!: string | null;

  @Column('timestamptz', { name: 'check_due_at', default: () => 'now()' })
  checkDueAt!: Date;

  /** When the platform last listed the shards. */
  @Column('timestamptz', { name: 'checked_at', nullable: true })
  checkedAt!: Date | null;
}
