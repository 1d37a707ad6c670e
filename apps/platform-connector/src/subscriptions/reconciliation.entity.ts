import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * The reconciliation schedule: when the next round is due, the lease on the current round, the results of earlier rounds, and the declared
 * transports. The table has only this row.
 */
@Entity({ name: 'reconciliation' })
export class Reconciliation {
  @PrimaryColumn('boolean', { default: true })
  id!: boolean;

  @Column('timestamptz', { name: 'due_at', default: () => 'now()' })
  dueAt!: Date;

  /** When the next listing of the platform's subscriptions is due. */
  @Column('timestamptz', { name: 'listing_due_at', default: () => 'now()' })
  listingDueAt!: Date;

  /** The id of the round in progress; null between rounds. */
  @Column('uuid', { nullable: true })
  holder!: string | null;

  /** When the lease ends. After this time, the holder counts as dead. */
  @Column('timestamptz', { name: 'held_until', nullable: true })
  heldUntil!: Date | null;

  /** The total cost of subscriptions that other programs created. */
  @Column('integer', { name: 'foreign_cost', default: 0 })
  foreignCost!: number;

  /** The platform's limit on the total cost; null until the platform has reported it. */
  @Column('integer', { name: 'max_cost', nullable: true })
  maxCost!: number | null;

  /** The number of monitored streamers in the last round. */
  @Column('integer', { default: 0 })
  monitored!: number;

  /** See `DeclaredTransports`. */
  @Column('text', { nullable: true })
  transport!: string | null;

  @Column('text', { name: 'public_url', nullable: true })
  publicUrl!: string | null;

  /** The fingerprints of the webhook secrets, separated by commas. */
  @Column('text', { name: 'webhook_fingerprints', nullable: true })
  webhookFingerprints!: string | null;

  @Column('timestamptz', { name: 'completed_at', nullable: true })
  completedAt!: Date | null;
}
