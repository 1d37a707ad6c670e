import { Entity, PrimaryColumn } from 'typeorm';

/** A seed that was added to the scopes or API endpoints once. It is never added again, even after users delete its row. */
@Entity({ name: 'applied_seeds' })
export class AppliedSeed {
  /** The id of the scope or API endpoint. */
  @PrimaryColumn('uuid')
  id!: string;
}
