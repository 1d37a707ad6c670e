import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables of scopes, API endpoints, and applied seeds. Up to version 0.1, these tables belonged to the platform connector.
 * Copies their rows, including the ids.
 *
 * Only this migration reads another service's schema. Asking the connector over NATS would require both services to run at the same time,
 * but services start in any order and in different versions. The connector's tables stay, because an old connector can still use them
 * during the upgrade. A later version of the connector can drop them.
 */
export class CreateScopesAndApiEndpoints1764600000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of createTables) await queryRunner.query(statement);
    if (await hasRowsToCopy(queryRunner)) await queryRunner.query(copyRows);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const createTables = [
  // COLLATE "C" sorts names by code point, independent of the server's locale.
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
  // Speeds up deleting a scope, which looks for API endpoints that use it.
  'CREATE INDEX api_endpoints_scope_index ON api_endpoints (scope)',

  `CREATE TABLE applied_seeds (
    id uuid NOT NULL,
    CONSTRAINT applied_seeds_pkey PRIMARY KEY (id)
  )`,
];

// Copy in one statement: it sees one snapshot, even while an old connector changes the rows.
const copyRows = `
  WITH copied_scopes AS (
    INSERT INTO scopes (id, scope, required) SELECT id, scope, required FROM platform_connector.scopes
  ), copied_api_endpoints AS (
    -- The API endpoints get new numbers in the old order.
    INSERT INTO api_endpoints (id, description, endpoint, method, reference_url, token_type, scope)
    SELECT id, description, endpoint, method, reference_url, token_type, scope
    FROM platform_connector.api_endpoints ORDER BY number
  )
  INSERT INTO applied_seeds (id) SELECT id FROM platform_connector.catalogue_seeds`;

interface OldTable {
  isReadable: boolean;
  isEmpty: boolean;
  role: string;
}

/**
 * Whether the connector's tables can have rows. Reads only the system catalogs, which every role can read, and the gateway's users. A table
 * of 0 bytes has no rows. In a new installation, the connector still creates empty tables, which the gateway does not need to read.
 *
 * @throws Error if the gateway's role cannot read the rows, or the connector's tables are in another database. Without the rows, entries of
 * users would be lost, and entries that users deleted would come back.
 */
async function hasRowsToCopy(queryRunner: QueryRunner): Promise<boolean> {
  // Safe cast: the statement returns these columns.
  const tables = (await queryRunner.query(
    `SELECT has_schema_privilege(relnamespace, 'USAGE') AND has_table_privilege(pg_class.oid, 'SELECT') AS "isReadable",
            pg_relation_size(pg_class.oid) = 0 AS "isEmpty", quote_ident(current_user) AS role
     FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = 'platform_connector' AND relname IN ('scopes', 'api_endpoints', 'catalogue_seeds')`,
  )) as OldTable[];
  if (tables.length === 0 && (await isUpgradeWithoutConnector(queryRunner))) throw new Error(explainCopy);
  if (tables.every(({ isEmpty }) => isEmpty)) return false;
  const unreadable = tables.find(({ isReadable }) => !isReadable);
  if (unreadable) throw new Error(explainGrants(unreadable.role));
  return true;
}

/** Whether this database has users from an earlier gateway, but no connector has ever used it. A new installation has no users. */
async function isUpgradeWithoutConnector(queryRunner: QueryRunner): Promise<boolean> {
  // Safe cast: the statement returns one row with this column.
  const [row] = (await queryRunner.query(
    `SELECT to_regnamespace('platform_connector') IS NULL AND EXISTS (SELECT FROM users) AS "isUpgrade"`,
  )) as { isUpgrade: boolean }[];
  return row?.isUpgrade ?? false;
}

const explainCopy =
  'Cannot copy the scopes and API endpoints: the gateway’s database has no schema platform_connector. If the platform connector ' +
  'uses another database, copy its schema: pg_dump --no-owner --no-privileges --schema=platform_connector ' +
  '"$CONNECTOR_DATABASE_URL" | psql --single-transaction "$GATEWAY_DATABASE_URL"; then start the gateway again. After that start, ' +
  'you can drop the copied schema. If no platform connector has run since the gateway was installed, create the schema in the ' +
  'gateway’s database: CREATE SCHEMA platform_connector; then start the gateway again.';

function explainGrants(role: string): string {
  return (
    'Cannot copy the scopes and API endpoints from the schema platform_connector: the gateway’s database role may not read ' +
    `them. As the owner of that schema, run: GRANT USAGE ON SCHEMA platform_connector TO ${role}; GRANT SELECT ON ` +
    `platform_connector.scopes, platform_connector.api_endpoints, platform_connector.catalogue_seeds TO ${role}; ` +
    'then start the gateway again. After that start, you can revoke these privileges.'
  );
}
