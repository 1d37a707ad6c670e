import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A batch that the EVENTS stream has acknowledged. The row stays until the stream has certainly written it to disk. */
@Entity({ name: 'published_batches' })
export class PublishedBatch {
  /** The id of the batch in the outbox. A batch that has to be published again gets the same id there. */
  @PrimaryColumn('bigint')
  id!: string;

  @Column('uuid', { name: 'event_ids', array: true })
  eventIds!: string[];

  /** The stream's epoch, as the sender knew it when it sent the batch. */
  @Column('text')
  epoch!: string;

  /** The highest sequence of its events on the stream. */
  @Column('bigint', { name: 'last_sequence' })
  lastSequence!: string;

  @Column('timestamptz', { name: 'published_at', default: () => 'now()' })
  publishedAt!: Date;
}
