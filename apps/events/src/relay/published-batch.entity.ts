import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A batch that the EVENTS stream has acknowledged, kept until the stream has certainly written it to its disk. */
@Entity({ name: 'published_batches' })
export class PublishedBatch {
  /** The id that it had in the outbox, and has again when it has to be published once more. */
  @PrimaryColumn('bigint')
  id!: string;

  @Column('uuid', { name: 'event_ids', array: true })
  eventIds!: string[];

  /** Of the stream that it was sent to, as far as its sender knew. */
  @Column('text')
  epoch!: string;

  /** The highest sequence that its events have on the stream. */
  @Column('bigint', { name: 'last_sequence' })
  lastSequence!: string;

  @Column('timestamptz', { name: 'published_at', default: () => 'now()' })
  publishedAt!: Date;
}
