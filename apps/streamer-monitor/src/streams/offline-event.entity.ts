import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A stream-offline event. The row stays for a week, and longer while the end of a stream depends on it. */
@Entity({ name: 'offline_events' })
export class OfflineEvent {
  /** The event's id, so that a redelivery changes nothing. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'streamer_id' })
  streamerId!: string;

  /** The platform's id of the ended stream; null when the event names no stream. */
  @Column('text', { name: 'stream_id', nullable: true })
  streamId!: string | null;

  @Column('timestamptz', { name: 'occurred_at' })
  occurredAt!: Date;
}
