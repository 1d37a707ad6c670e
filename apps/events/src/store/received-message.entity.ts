import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What was received in the last day: decides whether a message is new. */
@Entity({ name: 'received_messages' })
export class ReceivedMessage {
  /** See `receivedMessageKey`. */
  @PrimaryColumn('uuid')
  key!: string;

  /** The event that the message became. */
  @Column('uuid', { name: 'event_id' })
  eventId!: string;

  @Column('timestamptz', { name: 'received_at', default: () => 'now()' })
  receivedAt!: Date;
}
