import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * The progress of a backfill, which processes all stored events of one kind in order of id. The row is deleted when the backfill is
 * complete.
 */
@Entity({ name: 'backfills' })
export class Backfill {
  @PrimaryColumn('text')
  name!: string;

  /** The current pass has processed events up to this id. */
  @Column('uuid', { name: 'after_id' })
  afterId!: string;

  /** When the next batch is due. */
  @Column('timestamptz', { name: 'resume_at' })
  resumeAt!: Date;

  /** The first pass to end after this time is the last one. */
  @Column('timestamptz', { name: 'ends_at' })
  endsAt!: Date;
}
