import type { PictureKind } from '@stream-events/contracts';
import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** A picture of the platform, or that there is none. All instances share the rows, and their number and bytes have a limit. */
@Entity({ name: 'pictures' })
@Check('pictures_kind_check', `kind IN ('user', 'category')`)
@Check(
  'pictures_content_check',
  '(bytes IS NULL) = (media_type IS NULL) AND (bytes IS NULL) = (hash IS NULL)',
)
export class Picture {
  @PrimaryColumn('text')
  kind!: PictureKind;

  /** The platform's id of the user or the category. */
  @PrimaryColumn('text')
  id!: string;

  /** Null, like the next two: there is no picture. */
  @Column('bytea', { nullable: true })
  bytes!: Buffer | null;

  @Column('text', { name: 'media_type', nullable: true })
  mediaType!: string | null;

  @Column('text', { nullable: true })
  hash!: string | null;

  @Column('timestamptz', { name: 'fetched_at' })
  fetchedAt!: Date;

  /** To the hour. */
  @Column('timestamptz', { name: 'used_at' })
  usedAt!: Date;
}
