import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A shard of the conduit, and the connector that holds its socket. See `Shard`. */
@Entity({ name: 'conduit_shards' })
export class ConduitShard {
  @PrimaryColumn('text', { name: 'conduit_id' })
  conduitId!: string;

  @PrimaryColumn('integer', { name: 'shard_id' })
  shardId!: number;

  /** See `ShardHolder`; null when any connector may take the shard. */
  @Column('uuid', { nullable: true })
  holder!: string | null;

  @Column('timestamptz', { name: 'held_until', nullable: true })
  heldUntil!: Date | null;

  @Column('text', { name: 'session_id', nullable: true })
  sessionId!: string | null;

  /**
   * The last 10 sessions that this installation used for the shard, including one that is not assigned yet. Any other session on the shard
   * belongs to another installation.
   */
  @Column('text', { array: true, default: '{}' })
  sessions!: string[];

  @Column('text', { default: 'unassigned' })
  status!: string;

  @Column('timestamptz', { name: 'status_since', default: () => 'now()' })
  statusSince!: Date;

  /** All messages that arrived before this time are stored or recorded as lost. */
  @Column('timestamptz', { name: 'settled_until', nullable: true })
  settledUntil!: Date | null;
}
