import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The progress of a backfill: work on all stored events of one kind, in order of their ids. The row is deleted at the end. */
@Entity({ name: 'backfills' })
export class Backfill {
  @PrimaryColumn('text')
  name!: string;

  /** Events up to this id are done in the current pass. */
  @Column('uuid', { name: 'after_id' })
  afterId!: string;

  /** When the next batch is due. */
  @Column('timestamptz', { name: 'resume_at' })
  resumeAt!: Date;

  /** A pass that ends after this time is the last one. */
  @Column('timestamptz', { name: 'ends_at' })
  endsAt!: Date;
}
