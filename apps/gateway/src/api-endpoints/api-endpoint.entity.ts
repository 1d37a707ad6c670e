import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** Whose token an API endpoint takes: a user's (`OA`), or the app's own (`AP`). */
export const tokenTypes = ['OA', 'AP'] as const;
export type TokenType = (typeof tokenTypes)[number];

/** An endpoint of the platform's API. Duplicates are allowed. */
@Entity({ name: 'api_endpoints' })
export class ApiEndpoint {
  /** The order of creation, which is the order of the list. */
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
