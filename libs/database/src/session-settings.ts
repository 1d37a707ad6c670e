import type pg from 'pg';

/** How a session connects to its service's schema. */
export interface SessionOptions {
  /** May have several hosts: `postgres://user:password@a:5432,b:5432/database`. The connection goes to the primary. */
  url: string;
  /** The schema that this service owns, and the only one it reads. */
  schema: string;
  /** The name in pg_stat_activity. */
  applicationName: string;
  /** How long a query may take, in milliseconds; 10 s by default. */
  statementTimeoutMs?: number;
  /** How long to wait for a new connection, or for one from a pool, in milliseconds; 3 s by default. */
  connectTimeoutMs?: number;
  /** Further settings for each session, such as `{ jit: 'off' }`. */
  settings?: Readonly<Record<string, string>>;
}

/** How long to wait for a new connection, or for one from a pool. */
export const defaultConnectTimeoutMs = 3_000;

// Callers of requests that only query the database give up after 10 s or less, so no caller waits for a query beyond this limit.
const defaultStatementTimeoutMs = 10_000;

/**
 * Makes pg detect a dead idle connection within about 20 s: the first probe follows after 10 s, and Node sends ten probes, one per second.
 * By default, the first probe follows after two hours, while networks forget connections that are idle for minutes.
 */
export const keepAliveOptions = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** Returns pg's options for a connection. */
export function connectionOptions({ statementTimeoutMs = defaultStatementTimeoutMs }: SessionOptions) {
  return {
    // If the network fails silently, no reply ever arrives, so the client needs its own limit.
    query_timeout: statementTimeoutMs + 2_000,
    ...keepAliveOptions,
  };
}

/**
 * Applies a service's settings to a new session. The settings are not in the startup message, because poolers reject or drop unknown
 * parameters there.
 */
export async function applySettings(
  client: Pick<pg.ClientBase, 'query'>,
  { schema, statementTimeoutMs = defaultStatementTimeoutMs, settings = {} }: SessionOptions,
): Promise<void> {
  const all = {
    // Table names in raw SQL refer to the service's own schema.
    search_path: schema,
    timezone: 'UTC',
    statement_timeout: String(statementTimeoutMs),
    idle_in_transaction_session_timeout: String(statementTimeoutMs),
    // When a service's machine vanishes, PostgreSQL ends its idle sessions, and releases their locks, after 30 s instead of two hours.
    tcp_keepalives_idle: '15',
    tcp_keepalives_interval: '5',
    tcp_keepalives_count: '3',
    ...settings,
  };
  await setAll(client, all);
}

/** Sets PostgreSQL parameters for the rest of the session. */
export async function setAll(
  client: Pick<pg.ClientBase, 'query'>,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  await client.query(
    'SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS settings (name, value)',
    [Object.keys(settings), Object.values(settings)],
  );
}
