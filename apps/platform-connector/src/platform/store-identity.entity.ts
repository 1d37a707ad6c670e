import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One row: which platform all that is kept here is about. */
@Entity({ name: 'store_identity' })
export class StoreIdentity {
  @PrimaryColumn('boolean', { default: true })
  id!: boolean;

  @Column('text')
  platform!: string;
}
