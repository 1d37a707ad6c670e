import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A connector that takes shards. */
@Entity({ name: 'shard_holders' })
export class ShardHolder {
  /** A new id for each process. */
  @PrimaryColumn('uuid')
  id!: string;

  /** The host and the process id, shown to users. */
  @Column('text')
  name!: string;

  /** After this time, the connector counts as dead. */
  @Column('timestamptz', { name: 'held_until' })
  heldUntil!: Date;

  /** The process id of the database session that last renewed the lease. Null for a connector of an older version. */
  @Column('integer', { nullable: true })
  backend!: number | null;
}
