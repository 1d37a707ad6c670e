import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables for scopes, API endpoints, and the seeds that were added to these two tables. The connector no longer uses the tables:
 * the gateway's migration 1764600000000 copies their rows into the gateway's schema. Keep the tables until every supported upgrade starts
 * from a version whose gateway has copied the rows. Then a later version of the connector can drop them.
 */
export class CreateCatalogue1764220000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  // Sort by code point, so that the order does not depend on the server's locale.
  `CREATE TABLE scopes (
    id uuid NOT NULL,
    scope text COLLATE "C" NOT NULL,
    required boolean NOT NULL,
    CONSTRAINT scopes_pkey PRIMARY KEY (id)
  )`,
  'CREATE INDEX scopes_scope_index ON scopes (scope, id)',

  `CREATE TABLE api_endpoints (
    number bigint GENERATED ALWAYS AS IDENTITY,
    id uuid NOT NULL,
    description text NOT NULL,
    endpoint text NOT NULL,
    method text NOT NULL,
    reference_url text NOT NULL,
    token_type text NOT NULL,
    scope uuid,
    CONSTRAINT api_endpoints_pkey PRIMARY KEY (number),
    CONSTRAINT api_endpoints_id_unique UNIQUE (id),
    CONSTRAINT api_endpoints_token_type_check CHECK (token_type IN ('OA', 'AP')),
    CONSTRAINT api_endpoints_scope_fkey FOREIGN KEY (scope) REFERENCES scopes (id)
  )`,
  // For deleting a scope: the service looks up the endpoints that refer to it.
  'CREATE INDEX api_endpoints_scope_index ON api_endpoints (scope)',

  `CREATE TABLE catalogue_seeds (
    id uuid NOT NULL,
    CONSTRAINT catalogue_seeds_pkey PRIMARY KEY (id)
  )`,
];
