import type { PictureKind } from '@stream-events/contracts';
import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** A cached picture, or a record that no picture exists. All instances share the rows, whose number and total size are limited. */
@Entity({ name: 'pictures' })
@Check('pictures_kind_check', `kind IN ('user', 'category')`)
@Check(
  'pictures_content_check',
  '(bytes IS NULL) = (media_type IS NULL) AND (bytes IS NULL) = (hash IS NULL)',
)
export class Picture {
  @PrimaryColumn('text')
  kind!: PictureKind;

  /** The platform's id of the user or category. */
  @PrimaryColumn('text')
  id!: string;

  /** Null when no picture exists. The next two columns are then null too. */
  @Column('bytea', { nullable: true })
  bytes!: Buffer | null;

  @Column('text', { name: 'media_type', nullable: true })
  mediaType!: string | null;

  @Column('text', { nullable: true })
  hash!: string | null;

  @Column('timestamptz', { name: 'fetched_at' })
  fetchedAt!: Date;

  /** When the picture was last used. Can be up to an hour too early, because the service updates the time at most once an hour. */
  @Column('timestamptz', { name: 'used_at' })
  usedAt!: Date;
}
