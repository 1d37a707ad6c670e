import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The conduit of this installation. The application's other conduits belong to other installations. */
@Entity({ name: 'conduits' })
export class Conduit {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  /** The conduit's id on the platform; null until the platform has created the conduit. */
  @Column('text', { name: 'conduit_id', nullable: true })
  conduitId!: string | null;

  /** The number of shards on the platform. Not used while `conduitId` is null. */
  @Column('integer', { name: 'shard_count' })
  shardCount!: number;

  /** Whether the conduit must be deleted, because the service uses another transport and no subscription needs the conduit. */
  @Column('boolean', { name: 'is_retired', default: false })
  isRetired!: boolean;

  /** Why the conduit could not be created, and the remedy; null when there is no problem. */
  @Column('text', { nullable: true })
  problem!: string | null;

  @Column('timestamptz', { name: 'check_due_at', default: () => 'now()' })
  checkDueAt!: Date;

  /** When the platform last listed the shards. */
  @Column('timestamptz', { name: 'checked_at', nullable: true })
  checkedAt!: Date | null;
}
