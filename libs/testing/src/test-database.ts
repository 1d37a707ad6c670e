import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** An empty database of the test's own. */
export interface TestDatabase {
  /** postgresql://… of its owner, a superuser. */
  url: string;
  /** Drops it, ending the connections that are still open. */
  drop(): Promise<void>;
}

/** The address of the PostgreSQL server which the global setup has started for the whole run. */
export const POSTGRES_URL_VARIABLE = 'TEST_POSTGRES_URL';

const CONNECT_TIMEOUT_MS = 10_000;
const QUERY_TIMEOUT_MS = 60_000;

/** Creates a database on the server of this Jest run; for each test file one, so that they cannot meet. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = process.env[POSTGRES_URL_VARIABLE];
  if (serverUrl === undefined) {
    throw new Error(`${POSTGRES_URL_VARIABLE} is not set: run the test by Jest, whose global setup sets it.`);
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
