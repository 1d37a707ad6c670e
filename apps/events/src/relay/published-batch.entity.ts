import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A batch that the EVENTS stream has acknowledged. The row is kept until the stream has certainly written the batch to disk. */
@Entity({ name: 'published_batches' })
export class PublishedBatch {
  /** The id of the batch in the outbox. A batch that must be published again returns to the outbox with the same id. */
  @PrimaryColumn('bigint')
  id!: string;

  @Column('uuid', { name: 'event_ids', array: true })
  eventIds!: string[];

  /** The stream's epoch, as the sender knew it when it sent the batch. */
  @Column('text')
  epoch!: string;

  /** The highest sequence of the batch's events on the stream. */
  @Column('bigint', { name: 'last_sequence' })
  lastSequence!: string;

  @Column('timestamptz', { name: 'published_at', default: () => 'now()' })
  publishedAt!: Date;
}
