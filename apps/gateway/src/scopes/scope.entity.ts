import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A permission that users of the platform can grant. Duplicates are allowed. */
@Entity({ name: 'scopes' })
export class Scope {
  @PrimaryColumn('uuid')
  id!: string;

  @Column({ type: 'text', collation: 'C' })
  scope!: string;

  @Column('boolean')
  required!: boolean;
}
