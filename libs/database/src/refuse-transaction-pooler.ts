import type pg from 'pg';
import { PrimaryClient, toPrimary } from './primary-client.js';
import { connectionOptions, type SessionOptions } from './session-settings.js';

// How often to repeat the check. By default, a pooler hands the session that was released last to the next client, so one round nearly
// always detects a shared session.
const rounds = 5;

const advice =
  'Each service needs its own sessions for its search path, prepared statements, and locks. ' +
  'Set pool_mode = session in the pooler, or connect to PostgreSQL directly.';

/**
 * Refuses a pooler that hands a PostgreSQL session to another client after each transaction or statement. With such a pooler, two
 * connections share a session, or one connection moves between sessions.
 *
 * @throws Error that says what to change
 */
export async function refuseTransactionPooler(options: SessionOptions): Promise<void> {
  const clients = [1, 2].map(
    () =>
      new PrimaryClient({
        ...toPrimary(options.url),
        application_name: options.applicationName,
        connectionTimeoutMillis: 3_000,
        ...connectionOptions(options),
      }),
  );
  try {
    const sessions: number[][] = [];
    for (const client of clients) await client.connect();
    for (let round = 1; round <= rounds; round += 1)
      // Run the queries one by one, so that the pooler can hand the released session to the next client.
      for (const [index, client] of clients.entries())
        (sessions[index] ??= []).push(await readSession(client));
    const distinct = sessions.map((pids) => new Set(pids).size);
    const isShared = sessions[0]?.some((pid) => sessions[1]?.includes(pid)) ?? false;
    if (isShared || distinct.some((count) => count > 1))
      throw new Error(
        `cannot use PostgreSQL as ${options.applicationName}: the address leads to a pooler that shares sessions between clients, per transaction or per statement. ${advice}`,
      );
  } finally {
    // Ignore errors: only the check used these connections, and it is done.
    await Promise.allSettled(clients.map((client) => client.end()));
  }
}

async function readSession(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}
