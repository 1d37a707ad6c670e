import type pg from 'pg';
import { PrimaryClient, toPrimary } from '../primary-client.js';
import { keepAliveOptions, setAll } from '../session-settings.js';

/** A schema, and the URL to connect with. The role in the URL owns the schema, or has the rights of all owners. */
export interface SchemaAccess {
  schema: string;
  url: string;
}

/** A connection to a schema. */
export interface SchemaSession {
  schema: string;
  client: pg.Client;
}

const connectTimeoutMs = 10_000;

// Statements have no time limit, because copying a table can take hours. The first four settings determine how values are printed.
const settings = {
  timezone: 'UTC',
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  lock_timeout: '30s',
};

/** Opens a session for each schema, or none if one fails. */
export async function openSessions(
  accesses: readonly SchemaAccess[],
  applicationName: string,
): Promise<SchemaSession[]> {
  const sessions = accesses.map(({ schema, url }) => ({
    schema,
    client: new PrimaryClient({
      ...toPrimary(url),
      application_name: applicationName,
      connectionTimeoutMillis: connectTimeoutMs,
      ...keepAliveOptions,
    }),
  }));
  try {
    for (const { schema, client } of sessions) {
      await client.connect();
      await setAll(client, { search_path: schema, ...settings });
    }
    return sessions;
  } catch (cause) {
    await closeSessions(sessions);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`cannot connect to PostgreSQL: ${reason}`, { cause });
  }
}

export async function closeSessions(sessions: readonly SchemaSession[]): Promise<void> {
  // Ignore the error: the work is done or has failed, and the server ends broken sessions itself.
  await Promise.all(sessions.map(({ client }) => client.end().catch(() => undefined)));
}
