import type { PictureKind } from '@stream-events/contracts';
import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** A cached picture, or the fact that there is no picture. All instances share the rows, whose number and total size are limited. */
@Entity({ name: 'pictures' })
@Check('pictures_kind_check', `kind IN ('user', 'category')`)
@Check(
  'pictures_content_check',
  '(bytes IS NULL) = (media_type IS NULL) AND (bytes IS NULL) = (hash IS NULL)',
)
export class Picture {
  @PrimaryColumn('text')
  kind!: PictureKind;

  /** The id of the user or the category on the platform. */
  @PrimaryColumn('text')
  id!: string;

  /** Null when there is no picture. The next two columns are then null, too. */
  @Column('bytea', { nullable: true })
  bytes!: Buffer | null;

  @Column('text', { name: 'media_type', nullable: true })
  mediaType!: string | null;

  @Column('text', { nullable: true })
  hash!: string | null;

  @Column('timestamptz', { name: 'fetched_at' })
  fetchedAt!: Date;

  /** When the picture was last used, accurate to the hour. */
  @Column('timestamptz', { name: 'used_at' })
  usedAt!: Date;
}
