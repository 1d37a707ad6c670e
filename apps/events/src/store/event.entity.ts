import { derivedColumns, type EventOrigin } from '@stream-events/contracts';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A stored event. The table also has the columns that filters on `event_data` read (`derivedColumns`). TypeORM
 * cannot describe a table that is partitioned by range of `id`: migrations create it, and a test compares it with this class.
 */
@Entity({ name: 'events', synchronize: false })
export class Event {
  /** UUIDv7: sorts by the time when the event was received. */
  @PrimaryColumn('uuid')
  id!: string;

  /** The platform's message id, or the id of a test event. */
  @Column('text', { name: 'event_id', nullable: true })
  eventId!: string | null;

  @Column('text', { name: 'event_type' })
  eventType!: string;

  @Column('text', { name: 'event_source' })
  eventSource!: string;

  @Column('text')
  origin!: EventOrigin;

  /** `json`, not `jsonb`, keeps the text exactly as it was sent. */
  @Column('json', { name: 'event_data' })
  eventData!: string;

  /** When the event happened by the platform's clock; null when the platform did not report it. */
  @Column('timestamptz', { name: 'occurred_at', nullable: true })
  occurredAt!: Date | null;
}

for (const { name, field } of derivedColumns)
  Column('text', { name, nullable: true })(Event.prototype, field);
