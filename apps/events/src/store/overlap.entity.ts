import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A type and condition with two subscriptions, which deliver the same occurrences under different message ids. */
@Entity({ name: 'subscription_overlaps' })
export class Overlap {
  /** See `Delivery`. */
  @PrimaryColumn('text')
  subscription!: string;

  @Column('timestamptz', { name: 'begun_at', default: () => 'now()' })
  begunAt!: Date;

  /** When one subscription was left; null while there are two, or are about to be. */
  @Column('timestamptz', { name: 'ended_at', nullable: true })
  endedAt!: Date | null;
}
