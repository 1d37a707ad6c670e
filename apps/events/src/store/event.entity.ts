import { derivedColumns, type EventOrigin } from '@stream-events/contracts';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A stored event. The table also has the columns in `derivedColumns`, which filters on `event_data` use. TypeORM cannot describe a table
 * partitioned by range of `id`, so migrations create the table, and a test compares it with this class.
 */
@Entity({ name: 'events', synchronize: false })
export class Event {
  /** UUIDv7, which sorts by the time of receipt. */
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

  /** `json` keeps the text exactly as it was sent; `jsonb` would not. */
  @Column('json', { name: 'event_data' })
  eventData!: string;

  /** When the event happened, by the platform's clock; null when the platform did not report it. */
  @Column('timestamptz', { name: 'occurred_at', nullable: true })
  occurredAt!: Date | null;
}

for (const { name, field } of derivedColumns)
  Column('text', { name, nullable: true })(Event.prototype, field);
