import { Entity, PrimaryColumn } from 'typeorm';

/** A row of the lists that was seeded once, whatever has become of it: it is never seeded again. */
@Entity({ name: 'catalogue_seeds' })
export class CatalogueSeed {
  /** That of the scope or API endpoint. */
  @PrimaryColumn('uuid')
  id!: string;
}
