import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A subscription that moves to the wanted transport. The row is deleted once the move has ended. See `SubscriptionMove`. */
@Entity({ name: 'subscription_moves' })
export class SubscriptionMoveRow {
  /** See `subscriptionKey`. */
  @PrimaryColumn('text')
  key!: string;

  @Column('boolean', { name: 'is_ready', default: false })
  isReady!: boolean;

  @Column('timestamptz', { name: 'enabled_at', nullable: true })
  enabledAt!: Date | null;

  @Column('timestamptz', { name: 'ends_at', nullable: true })
  endsAt!: Date | null;

  @Column('integer', { default: 0 })
  attempts!: number;

  @Column('timestamptz', { name: 'retry_at', nullable: true })
  retryAt!: Date | null;

  @Column('text', { nullable: true })
  reason!: string | null;
}
