import { randomBytes } from 'node:crypto';
import { createServiceRoles, serviceSchemas, urlOfRole } from '@stream-events/database/roles';
import pg from 'pg';

/** A database for one test file. Contains an empty schema for each service. */
export interface TestDatabase {
  /** URL with superuser credentials, for operations that a service's role may not perform. */
  url: string;
  /** URL with the credentials of the schema's role, as its service gets them. Throws for an unknown schema. */
  urlFor(schema: string): string;
  /** Closes open connections, and drops the database and its roles. */
  drop(): Promise<void>;
}

/** Variable with the URL of the run's PostgreSQL server. The global setup sets it. */
export const POSTGRES_URL_VARIABLE = 'TEST_POSTGRES_URL';

const CONNECT_TIMEOUT_MS = 30_000;
const QUERY_TIMEOUT_MS = 60_000;

/**
 * Creates a database on this run's PostgreSQL server. Each test file needs its own.
 *
 * @param schemas schemas to create, each with a role. Default: the services' schemas
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
  // Roles belong to the whole server, so a role's name contains the database's name.
  const roles = schemas.map((schema) => ({
    schema,
    name: `${name}_${schema}`,
    password: `${schema}-${name}`,
  }));
  await createServiceRoles(url.href, roles, { isDedicated: true, connectTimeoutMs: CONNECT_TIMEOUT_MS });
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
