import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One row: when the subscriptions are reconciled next, who does it at the moment, and what was last learnt. */
@Entity({ name: 'reconciliation' })
export class Reconciliation {
  @PrimaryColumn('boolean', { default: true })
  id!: boolean;

  @Column('timestamptz', { name: 'due_at', default: () => 'now()' })
  dueAt!: Date;

  /** When the platform is next asked for all subscriptions. */
  @Column('timestamptz', { name: 'listing_due_at', default: () => 'now()' })
  listingDueAt!: Date;

  /** The round in progress. */
  @Column('uuid', { nullable: true })
  holder!: string | null;

  /** After that the holder is taken for dead. */
  @Column('timestamptz', { name: 'held_until', nullable: true })
  heldUntil!: Date | null;

  /** What the subscriptions of others count of the limit. */
  @Column('integer', { name: 'foreign_cost', default: 0 })
  foreignCost!: number;

  /** The limit; null until the platform has said it. */
  @Column('integer', { name: 'max_cost', nullable: true })
  maxCost!: number | null;

  /** How many streamers were monitored at the last round. */
  @Column('integer', { default: 0 })
  monitored!: number;

  @Column('timestamptz', { name: 'completed_at', nullable: true })
  completedAt!: Date | null;
}
