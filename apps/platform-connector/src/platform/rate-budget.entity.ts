import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A `Bucket`. There is one row for the application and one for each user whose token makes calls. All instances share the rows. */
@Entity({ name: 'rate_budgets' })
export class RateBudgetRow {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  /** Empty for calls with the application's own token. */
  @PrimaryColumn('text', { name: 'user_id', default: '' })
  userId!: string;

  @Column('integer', { name: 'calls_per_minute' })
  callsPerMinute!: number;

  /** How many calls were left at `countedAt`. The bucket has been refilling since then. */
  @Column('double precision')
  remaining!: number;

  @Column('timestamptz', { name: 'counted_at' })
  countedAt!: Date;

  @Column('timestamptz', { name: 'blocked_until', nullable: true })
  blockedUntil!: Date | null;

  /** Whether the platform has reported its limit. If not, the row holds the default limit. */
  @Column('boolean', { name: 'is_reported' })
  isReported!: boolean;
}
