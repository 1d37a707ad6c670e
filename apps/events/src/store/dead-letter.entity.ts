import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An event that the database rejected because of its content, kept until an owner retries or discards it. */
@Entity({ name: 'dead_letters' })
export class DeadLetter {
  /** See `receivedMessageKey`. A message becomes one dead letter, even when it is delivered several times. */
  @PrimaryColumn('uuid')
  key!: string;

  /** The event's own id. The API names dead letters by it and sorts them by it. */
  @Column('uuid', { name: 'event_id' })
  eventId!: string;

  /** The event as JSON. Bytes, because a text column might reject the very content that the database rejected before. */
  @Column('bytea')
  message!: Buffer;

  /** The SQLSTATE of the latest rejection. */
  @Column('text', { name: 'sql_state' })
  sqlState!: string;

  /** PostgreSQL's message for the latest rejection. */
  @Column('text')
  reason!: string;

  /** When the event was first rejected. */
  @Column('timestamptz', { name: 'failed_at', default: () => 'now()' })
  failedAt!: Date;
}
