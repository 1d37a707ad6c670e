import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * An event that the database rejected, an unreadable message, or an event that arrived too late. Kept until an owner retries or discards
 * it, or until retention removes it.
 */
@Entity({ name: 'dead_letters' })
export class DeadLetter {
  /** See `receivedMessageKey`. A message becomes one dead letter, even when it is delivered several times. */
  @PrimaryColumn('uuid')
  key!: string;

  /** The event's own id. The API identifies and sorts dead letters by this id. */
  @Column('uuid', { name: 'event_id' })
  eventId!: string;

  /** The event as JSON, stored as bytes, because a text column might reject the content that the database rejected before. */
  @Column('bytea')
  message!: Buffer;

  /** The SQLSTATE of the latest rejection; empty when the database did not reject the event. */
  @Column('text', { name: 'sql_state' })
  sqlState!: string;

  /** The latest reason: PostgreSQL's message, or why the message is unreadable, or that the event arrived too late. */
  @Column('text')
  reason!: string;

  /** When the event became a dead letter. */
  @Column('timestamptz', { name: 'failed_at', default: () => 'now()' })
  failedAt!: Date;
}
