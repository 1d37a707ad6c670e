import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A connector that takes shards. */
@Entity({ name: 'shard_holders' })
export class ShardHolder {
  /** Each process gets a new id. */
  @PrimaryColumn('uuid')
  id!: string;

  /** The host and the process id, for users to read. */
  @Column('text')
  name!: string;

  /** When this time has passed, the connector counts as dead. */
  @Column('timestamptz', { name: 'held_until' })
  heldUntil!: Date;

  /** The process id of the PostgreSQL backend that last renewed the lease. */
  @Column('integer')
  backend!: number;
}
