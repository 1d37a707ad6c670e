import { randomBytes } from 'node:crypto';
import { createServiceRoles, serviceSchemas, urlOfRole } from '@stream-events/database/roles';
import pg from 'pg';

/** A database for one test file, with the empty schemas of the services. */
export interface TestDatabase {
  /**
   * postgresql://… with the credentials of the owner, a superuser. Use it for operations that no service may perform; services use
   * `urlFor`.
   */
  url: string;
  /** postgresql://… with the credentials of the role that owns a schema, as its service gets them. Throws for an unknown schema. */
  urlFor(schema: string): string;
  /** Drops the database with its roles, and closes the connections that are still open. */
  drop(): Promise<void>;
}

/** The environment variable with the address of the PostgreSQL server that the global setup started for the whole run. */
export const POSTGRES_URL_VARIABLE = 'TEST_POSTGRES_URL';

const CONNECT_TIMEOUT_MS = 30_000;
const QUERY_TIMEOUT_MS = 60_000;

/**
 * Creates a database on the PostgreSQL server of this Jest run. Each test file uses its own database.
 *
 * @param schemas the schemas that get a role. Default: those of the services
 */
export async function createTestDatabase(
  schemas: readonly string[] = Object.values(serviceSchemas),
): Promise<TestDatabase> {
  const serverUrl = process.env[POSTGRES_URL_VARIABLE];
  if (serverUrl === undefined) {
    throw new Error(
      `${POSTGRES_URL_VARIABLE} is not set. Run the test with Jest: its global setup sets the variable.`,
    );
  }
  const name = `test_${randomBytes(8).toString('hex')}`;
  await execute(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  // All databases share the roles, so the name of a role contains the name of its database.
  const roles = schemas.map((schema) => ({
    schema,
    name: `${name}_${schema}`,
    password: `${schema}-${name}`,
  }));
  await createServiceRoles(url.href, roles, { isDedicated: true });
  return {
    url: url.href,
    urlFor: (schema) => {
      const role = roles.find((candidate) => candidate.schema === schema);
      if (!role)
        throw new Error(`The test database has no role for the schema ${schema}: ${schemas.join(', ')}.`);
      return urlOfRole(url.href, role);
    },
    drop: () =>
      execute(
        serverUrl,
        `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
        ...roles.map((role) => `DROP ROLE IF EXISTS ${role.name}`),
      ),
  };
}

async function execute(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
