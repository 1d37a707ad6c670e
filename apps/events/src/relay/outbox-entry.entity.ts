import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A batch of stored events that the EVENTS stream has not acknowledged yet. */
@Entity({ name: 'outbox' })
export class OutboxEntry {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: string;

  @Column('uuid', { name: 'event_ids', array: true })
  eventIds!: string[];

  /** Until this time, only the instance that wrote or claimed the batch publishes it. Afterwards, any instance may claim the batch. */
  @Column('timestamptz', { name: 'claimed_until' })
  claimedUntil!: Date;
}
