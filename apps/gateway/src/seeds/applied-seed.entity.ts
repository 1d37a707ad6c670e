import { Entity, PrimaryColumn } from 'typeorm';

/** A seed that the service has added to the scopes or API endpoints. The service never adds it again, even if users delete its row. */
@Entity({ name: 'applied_seeds' })
export class AppliedSeed {
  /** The id of the scope or API endpoint. */
  @PrimaryColumn('uuid')
  id!: string;
}
