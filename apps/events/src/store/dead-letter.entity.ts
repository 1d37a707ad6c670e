import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An event that the database refused for its content, kept aside until an owner stores or discards it. */
@Entity({ name: 'dead_letters' })
export class DeadLetter {
  /** See `receivedMessageKey`: the same message is parked once. */
  @PrimaryColumn('uuid')
  key!: string;

  /** The event's own id, by which owners name the message, and in whose order they list them. */
  @Column('uuid', { name: 'event_id' })
  eventId!: string;

  /** The event as JSON; bytes, because what a text column refuses may be why it is here. */
  @Column('bytea')
  message!: Buffer;

  /** Of the last refusal. */
  @Column('text', { name: 'sql_state' })
  sqlState!: string;

  /** Of the last refusal. */
  @Column('text')
  reason!: string;

  /** When it was refused first. */
  @Column('timestamptz', { name: 'failed_at', default: () => 'now()' })
  failedAt!: Date;
}
