import { Entity, PrimaryColumn } from 'typeorm';

/**
 * A default scope or API endpoint that the service has added. The service adds each one only once: a row that users delete stays deleted.
 */
@Entity({ name: 'applied_seeds' })
export class AppliedSeed {
  /** Id of the scope or API endpoint. */
  @PrimaryColumn('uuid')
  id!: string;
}
