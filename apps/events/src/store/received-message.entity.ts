import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A message received in the last 25 hours. A message without a row here is new. */
@Entity({ name: 'received_messages' })
export class ReceivedMessage {
  /** See `receivedMessageKey`. */
  @PrimaryColumn('uuid')
  key!: string;

  /** The id of the event that the message became. */
  @Column('uuid', { name: 'event_id' })
  eventId!: string;

  @Column('timestamptz', { name: 'received_at', default: () => 'now()' })
  receivedAt!: Date;
}
