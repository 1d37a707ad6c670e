import type { TokenType } from '@stream-events/platforms';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** An endpoint of the platform's API. Duplicates are allowed. */
@Entity({ name: 'api_endpoints' })
export class ApiEndpoint {
  /** Increases in creation order. The list is sorted by this number. */
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  number!: string;

  @Column('uuid', { unique: true })
  id!: string;

  @Column('text')
  description!: string;

  @Column('text')
  endpoint!: string;

  @Column('text')
  method!: string;

  @Column('text', { name: 'reference_url' })
  referenceUrl!: string;

  @Column('text', { name: 'token_type' })
  tokenType!: TokenType;

  /** The id of a scope; null when the endpoint needs none. */
  @Column('uuid', { nullable: true })
  scope!: string | null;
}
