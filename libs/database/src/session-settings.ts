import type pg from 'pg';

/** How a session connects to the schema of its service. */
export interface SessionOptions {
  /** May have several hosts: `postgres://user:password@a:5432,b:5432/database`. The service connects to the primary. */
  url: string;
  /** The schema that this service owns. The service never reads another schema. */
  schema: string;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Time limit of one query, in milliseconds; 10 s by default. */
  statementTimeoutMs?: number;
  /** Time limit for a new connection, and for a turn in a pool, in milliseconds; 3 s by default. */
  connectTimeoutMs?: number;
  /** Settings of each session, such as `{ jit: 'off' }`. */
  settings?: Readonly<Record<string, string>>;
}

/** The time limit for a new connection, and for a turn in a pool. */
export const defaultConnectTimeoutMs = 3_000;

// Clients give up before a query reaches this limit.
const defaultStatementTimeoutMs = 10_000;

/**
 * Options for pg that detect a dead connection after 20 s to 2 minutes. With the default delay, the operating system sends its first probe
 * after two hours, and networks forget connections that are idle for minutes.
 */
export const keepAliveOptions = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** Returns pg's options for a connection. */
export function connectionOptions({ statementTimeoutMs = defaultStatementTimeoutMs }: SessionOptions) {
  return {
    // When the network fails without closing the connection, no reply ever arrives: the client therefore needs its own time
    // limit.
    query_timeout: statementTimeoutMs + 2_000,
    ...keepAliveOptions,
  };
}

/**
 * Applies the settings of a service to a new session. The settings are not part of the startup message, because poolers reject or drop
 * unknown parameters in that message.
 */
export async function applySettings(
  client: Pick<pg.ClientBase, 'query'>,
  { schema, statementTimeoutMs = defaultStatementTimeoutMs, settings = {} }: SessionOptions,
): Promise<void> {
  const all = {
    // Table names in raw SQL refer to the service's own schema first.
    search_path: schema,
    timezone: 'UTC',
    statement_timeout: String(statementTimeoutMs),
    idle_in_transaction_session_timeout: String(statementTimeoutMs),
    // When the machine of a service vanishes, PostgreSQL ends its idle sessions, and their locks, after 30 s instead of two hours.
    tcp_keepalives_idle: '15',
    tcp_keepalives_interval: '5',
    tcp_keepalives_count: '3',
    ...settings,
  };
  await setAll(client, all);
}

/** Sets parameters of PostgreSQL for the rest of a session. */
export async function setAll(
  client: Pick<pg.ClientBase, 'query'>,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  await client.query(
    'SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS settings (name, value)',
    [Object.keys(settings), Object.values(settings)],
  );
}
