import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A type and condition that have two subscriptions, or had them in the last 25 hours. The two deliver each occurrence twice, under
 * different message ids.
 */
@Entity({ name: 'subscription_overlaps' })
export class Overlap {
  /** See `Delivery`. */
  @PrimaryColumn('text')
  subscription!: string;

  @Column('timestamptz', { name: 'begun_at', default: () => 'now()' })
  begunAt!: Date;

  /** From this time on, only one subscription counts; null while there are two, or while the second is about to be created. */
  @Column('timestamptz', { name: 'ended_at', nullable: true })
  endedAt!: Date | null;

  /** When the previous overlap ended. */
  @Column('timestamptz', { name: 'previous_ended_at', nullable: true })
  previousEndedAt!: Date | null;

  /** When the platform created the subscription that remains. */
  @Column('timestamptz', { name: 'kept_since', nullable: true })
  keptSince!: Date | null;
}
