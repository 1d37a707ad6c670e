import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** An empty database for one test file. */
export interface TestDatabase {
  /** postgresql://… with the credentials of the owner, a superuser. */
  url: string;
  /** Drops the database and closes the connections that are still open. */
  drop(): Promise<void>;
}

/** Holds the address of the PostgreSQL server that the global setup started for the whole run. */
export const POSTGRES_URL_VARIABLE = 'TEST_POSTGRES_URL';

const CONNECT_TIMEOUT_MS = 10_000;
const QUERY_TIMEOUT_MS = 60_000;

/** Creates a database on the PostgreSQL server of this Jest run. Each test file uses its own. */
export async function createTestDatabase(): Promise<TestDatabase> {
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
  return { url: url.href, drop: () => execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
