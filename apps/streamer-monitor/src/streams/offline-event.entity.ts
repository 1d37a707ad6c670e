import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A stream-offline event. Kept for a week, or permanently when the end of a stream depends on it. */
@Entity({ name: 'offline_events' })
export class OfflineEvent {
  /** The id of the event, so that a redelivered event changes nothing. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'streamer_id' })
  streamerId!: string;

  /** The id of the ended stream on the platform; null when the event does not name the stream. */
  @Column('text', { name: 'stream_id', nullable: true })
  streamId!: string | null;

  @Column('timestamptz', { name: 'occurred_at' })
  occurredAt!: Date;
}
