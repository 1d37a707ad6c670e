import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An event that the database refused for its content, kept aside for an operator. */
@Entity({ name: 'parked_messages' })
export class ParkedMessage {
  /** See `receivedMessageKey`: the same message is parked once. */
  @PrimaryColumn('uuid')
  key!: string;

  @Column('uuid', { name: 'event_id' })
  eventId!: string;

  /** The event as JSON; bytes, because what a text column refuses may be why it is here. */
  @Column('bytea')
  message!: Buffer;

  @Column('text', { name: 'sql_state' })
  sqlState!: string;

  @Column('text')
  reason!: string;

  @Column('timestamptz', { name: 'parked_at', default: () => 'now()' })
  parkedAt!: Date;
}
