import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A batch of stored events that still has to reach the EVENTS stream. */
@Entity({ name: 'outbox' })
export class OutboxEntry {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: string;

  @Column('uuid', { name: 'event_ids', array: true })
  eventIds!: string[];

  /** Who wrote the batch publishes it until then; after that any instance may. */
  @Column('timestamptz', { name: 'claimed_until' })
  claimedUntil!: Date;
}
