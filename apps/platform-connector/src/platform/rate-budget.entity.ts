import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A `Bucket`: one row per application, and one row per user whose token is used for calls. All instances share the rows. */
@Entity({ name: 'rate_budgets' })
export class RateBudgetRow {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  /** Empty for the calls of the application itself. */
  @PrimaryColumn('text', { name: 'user_id', default: '' })
  userId!: string;

  @Column('integer', { name: 'calls_per_minute' })
  callsPerMinute!: number;

  /** Calls left at `countedAt`. Since then, the bucket has been refilling. */
  @Column('double precision')
  remaining!: number;

  @Column('timestamptz', { name: 'counted_at' })
  countedAt!: Date;

  @Column('timestamptz', { name: 'blocked_until', nullable: true })
  blockedUntil!: Date | null;

  /** Whether the platform has reported its limit; false means that the default is assumed. */
  @Column('boolean', { name: 'is_reported' })
  isReported!: boolean;
}
