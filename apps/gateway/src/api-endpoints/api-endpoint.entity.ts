import type { TokenType } from '@stream-events/platforms';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A known endpoint of the platform's API. Duplicates are allowed. */
@Entity({ name: 'api_endpoints' })
export class ApiEndpoint {
  /** Numbers the endpoints in creation order, which is the order of the list. */
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

  /** Id of the scope that the endpoint needs, or null if it needs none. */
  @Column('uuid', { nullable: true })
  scope!: string | null;
}
