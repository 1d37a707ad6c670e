import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A received message. The row stays for at least 25 hours. The store treats a message without a row here as new. */
@Entity({ name: 'received_messages' })
export class ReceivedMessage {
  /** See `receivedMessageKey`. */
  @PrimaryColumn('uuid')
  key!: string;

  /** The event that the message became or repeats. The store may have no such event anymore. */
  @Column('uuid', { name: 'event_id' })
  eventId!: string;

  @Column('timestamptz', { name: 'received_at', default: () => 'now()' })
  receivedAt!: Date;
}
