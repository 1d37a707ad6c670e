import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A batch that the EVENTS stream has acknowledged. The row stays until the stream has written the batch to disk: at least 5 minutes. */
@Entity({ name: 'published_batches' })
export class PublishedBatch {
  /** The batch's id in the outbox, which it keeps when it must be published again. */
  @PrimaryColumn('bigint')
  id!: string;

  @Column('uuid', { name: 'event_ids', array: true })
  eventIds!: string[];

  /** The epoch that the stream had when the batch was sent, as far as the sender knew. */
  @Column('text')
  epoch!: string;

  /** The highest sequence of the batch's events on the stream. */
  @Column('bigint', { name: 'last_sequence' })
  lastSequence!: string;

  @Column('timestamptz', { name: 'published_at', default: () => 'now()' })
  publishedAt!: Date;
}
