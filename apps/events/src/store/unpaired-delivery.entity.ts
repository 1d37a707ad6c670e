import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A stored event that only one of two overlapping subscriptions has delivered so far; the other may still deliver it. */
@Entity({ name: 'unpaired_deliveries' })
@Index('unpaired_deliveries_pairing_key_index', ['pairingKey', 'occurredAt'])
@Index('unpaired_deliveries_stored_at_index', ['storedAt'])
export class UnpairedDelivery {
  @PrimaryColumn('uuid', { name: 'event_id' })
  eventId!: string;

  /** A hash of type, condition, and event bytes. */
  @Column('uuid', { name: 'pairing_key' })
  pairingKey!: string;

  /** The subscription that delivered the event; see `Delivery`. */
  @Column('text')
  via!: string;

  /** The message's time, by the platform's clock. */
  @Column('timestamptz', { name: 'occurred_at' })
  occurredAt!: Date;

  /** When the platform created that subscription. */
  @Column('timestamptz', { name: 'subscribed_at' })
  subscribedAt!: Date;

  @Column('timestamptz', { name: 'stored_at', default: () => 'now()' })
  storedAt!: Date;
}
