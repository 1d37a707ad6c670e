import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A rejected event, an unreadable message, or an event that arrived too late. The row stays until an owner retries or discards the dead
 * letter, or until retention or an erasure removes it.
 */
@Entity({ name: 'dead_letters' })
export class DeadLetter {
  /** See `receivedMessageKey`. However often a message is delivered, it becomes a single dead letter. */
  @PrimaryColumn('uuid')
  key!: string;

  /** The event's own id, by which the API identifies and sorts dead letters. */
  @Column('uuid', { name: 'event_id' })
  eventId!: string;

  /** The event as JSON in bytes: a text column might reject the content for the same reason as before. */
  @Column('bytea')
  message!: Buffer;

  /** The SQLSTATE of the latest rejection; empty when the database did not reject the event. */
  @Column('text', { name: 'sql_state' })
  sqlState!: string;

  /** The latest reason: PostgreSQL's message, why the message is unreadable, or that the event arrived too late. */
  @Column('text')
  reason!: string;

  @Column('timestamptz', { name: 'failed_at', default: () => 'now()' })
  failedAt!: Date;
}
