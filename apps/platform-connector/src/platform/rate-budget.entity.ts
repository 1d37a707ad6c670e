import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What is left of the platform's rate limit, one for all instances: the bucket of rate-budget.ts. */
@Entity({ name: 'rate_budgets' })
export class RateBudgetRow {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  @Column('integer', { name: 'calls_per_minute' })
  callsPerMinute!: number;

  /** As it was at `countedAt`; it has grown since. */
  @Column('double precision')
  remaining!: number;

  @Column('timestamptz', { name: 'counted_at' })
  countedAt!: Date;

  @Column('timestamptz', { name: 'blocked_until', nullable: true })
  blockedUntil!: Date | null;

  /** Whether the platform has said the limit; until then it is assumed. */
  @Column('boolean', { name: 'is_reported' })
  isReported!: boolean;
}
