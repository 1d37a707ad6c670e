import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';

/** A subscription that is wanted, or that must still be deleted on the platform. See `OwnSubscription`. */
@Entity({ name: 'subscriptions' })
@Unique('subscriptions_type_version_condition_unique', ['type', 'version', 'condition'])
@Index('subscriptions_subscription_id_index', ['subscriptionId'])
@Index('subscriptions_status_index', ['status', 'id'])
export class Subscription {
  /** A UUIDv7, so rows sort by when their subscription was first wanted. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  type!: string;

  @Column('text')
  version!: string;

  @Column('jsonb')
  condition!: Record<string, string>;

  @Column('text', { name: 'subscription_id', nullable: true })
  subscriptionId!: string | null;

  /** The webhook's URL. At most one of `callback`, `conduitId`, and `sessionId` is set. See `SubscriptionTransport`. */
  @Column('text', { nullable: true })
  callback!: string | null;

  @Column('text', { name: 'conduit_id', nullable: true })
  conduitId!: string | null;

  @Column('text', { name: 'session_id', nullable: true })
  sessionId!: string | null;

  @Column('text')
  status!: string;

  @Column('text', { nullable: true })
  reason!: string | null;

  @Column('integer', { nullable: true })
  cost!: number | null;

  @Column('integer', { default: 0 })
  attempts!: number;

  @Column('timestamptz', { name: 'retry_at', nullable: true })
  retryAt!: Date | null;

  @Column('timestamptz', { name: 'status_since', default: () => 'now()' })
  statusSince!: Date;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at', default: () => 'now()' })
  updatedAt!: Date;
}
