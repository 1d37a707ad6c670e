import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A type and condition with two subscriptions, which deliver the same occurrences under different message ids. */
@Entity({ name: 'subscription_overlaps' })
export class Overlap {
  /** See `Delivery`. */
  @PrimaryColumn('text')
  subscription!: string;

  @Column('timestamptz', { name: 'begun_at', default: () => 'now()' })
  begunAt!: Date;

  /**
   * The time after which only one subscription counts; null while there are two subscriptions, or while the second one is about to be
   * created.
   */
  @Column('timestamptz', { name: 'ended_at', nullable: true })
  endedAt!: Date | null;

  /** When the overlap before this one ended. */
  @Column('timestamptz', { name: 'previous_ended_at', nullable: true })
  previousEndedAt!: Date | null;

  /** When the platform created the subscription that counts after the end. */
  @Column('timestamptz', { name: 'kept_since', nullable: true })
  keptSince!: Date | null;
}
