import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A connector that takes shards. */
@Entity({ name: 'shard_holders' })
export class ShardHolder {
  /** A new one for each process. */
  @PrimaryColumn('uuid')
  id!: string;

  /** The host and the process id, for people. */
  @Column('text')
  name!: string;

  /** After this time, the connector counts as dead. */
  @Column('timestamptz', { name: 'held_until' })
  heldUntil!: Date;

  /** The id of a database session of the connector, as of its last renewal. Null for an older version. */
  @Column('integer', { nullable: true })
  backend!: number | null;
}
