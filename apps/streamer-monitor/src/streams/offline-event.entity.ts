import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An event that said that a streamer went offline: kept for a week, and for good when a stream ends by it. */
@Entity({ name: 'offline_events' })
export class OfflineEvent {
  /** The id of the event: the same event again changes nothing. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'streamer_id' })
  streamerId!: string;

  /** The platform's id of the stream that has ended; null when the event does not say it. */
  @Column('text', { name: 'stream_id', nullable: true })
  streamId!: string | null;

  @Column('timestamptz', { name: 'occurred_at' })
  occurredAt!: Date;
}
