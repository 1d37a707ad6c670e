import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { PrimaryClient, toPrimary } from './primary-client.js';
import { migrationTimeoutMs, runMigrations } from './run-migrations.js';

/** How a session connects to the schema of its service. */
export interface SessionOptions {
  /** May have several hosts: `postgres://user:password@a:5432,b:5432/database`. Connects to the one that is the primary. */
  url: string;
  /** The schema that this service owns. The service never reads another schema. */
  schema: string;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** How long one query may take, in milliseconds; 10 s unless given. */
  statementTimeoutMs?: number;
  /** Settings of each session, such as `{ jit: 'off' }`. Their values contain no white space. */
  settings?: Readonly<Record<string, string>>;
}

/** How a service connects to its schema. */
export interface PoolOptions extends SessionOptions {
  /** Maximum number of connections. */
  poolSize: number;
  /** How long a connection is used; without a limit unless given. Prepared statements end with their connection. */
  maxLifetimeSeconds?: number;
}

/** How a service connects to its schema, with its tables and migrations. */
export interface DatabaseOptions extends PoolOptions {
  entities: NonNullable<DataSourceOptions['entities']>;
  migrations: NonNullable<DataSourceOptions['migrations']>;
}

// Long enough for a database that starts together with the service. An orchestrator sees a longer outage as a failed start.
const firstConnectionLimitMs = 30_000;

const connectTimeoutMs = 3_000;

// Clients give up before a query takes this long.
const defaultStatementTimeoutMs = 10_000;

/**
 * Connects to PostgreSQL, retrying for 30 s, and runs the pending migrations of the service's schema.
 *
 * @throws when the database does not respond or a migration fails
 */
export async function connectDatabase(options: DatabaseOptions): Promise<DataSource> {
  const migrating = createDataSource({ ...options, poolSize: 1, statementTimeoutMs: migrationTimeoutMs });
  await runMigrations(migrating, options.schema, connectWithin);
  const dataSource = createDataSource(options);
  await connectWithin(dataSource);
  dropStuckConnections(dataSource);
  return dataSource;
}

/**
 * Creates a separate pool of connections for the hottest statements, which TypeORM cannot run: named statements, planned
 * once per connection, and binary parameters. Connects when a connection is first needed.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...toPrimary(options.url),
    application_name: options.applicationName,
    max: options.poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(options.maxLifetimeSeconds !== undefined && { maxLifetimeSeconds: options.maxLifetimeSeconds }),
    ...sessionSettings(options),
  });
  // The pool replaces an idle connection that breaks. An error on a connection in use reaches its user.
  pool.on('error', () => undefined);
  endStuckConnections(pool);
  return pool;
}

/** Creates a connection outside of any pool, for a session that lasts. The caller connects and ends it. */
export function createClient(options: SessionOptions): pg.Client {
  return new PrimaryClient({
    ...toPrimary(options.url),
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    ...sessionSettings(options),
  });
}

/** The parts of pg's pool and client that are used here. */
interface PoolOfClients {
  on(event: 'release', listener: (error: unknown, client: PooledClient) => void): void;
}
interface PooledClient {
  /** The query that the client waits for. Private to pg: the public name is deprecated and has no replacement. */
  _activeQuery?: unknown;
  connection: { stream: { destroy(): void } };
}

function dropStuckConnections(dataSource: DataSource): void {
  const { master } = dataSource.driver as unknown as { master: PoolOfClients }; // Safe cast: TypeORM's postgres driver keeps its pool there.
  endStuckConnections(master);
}

/**
 * Destroys connections that return to the pool in the middle of a query. The network to their server failed, and the next query on
 * such a connection would wait for a reply that never arrives.
 */
function endStuckConnections(pool: PoolOfClients): void {
  pool.on('release', (_error, client) => {
    if (client._activeQuery) client.connection.stream.destroy();
  });
}

/** Creates the data source of a service without connecting it. */
export function createDataSource(options: DatabaseOptions): DataSource {
  const { connectionString, ...primary } = toPrimary(options.url);
  return new DataSource({
    type: 'postgres',
    url: connectionString,
    schema: options.schema,
    applicationName: options.applicationName,
    entities: options.entities,
    migrations: options.migrations,
    migrationsTableName: 'migrations',
    synchronize: false,
    // A service's role may not create extensions, and no service needs one.
    installExtensions: false,
    logging: false,
    poolSize: options.poolSize,
    connectTimeoutMS: connectTimeoutMs,
    extra: { ...primary, ...sessionSettings(options) },
  });
}

function sessionSettings({
  schema,
  statementTimeoutMs = defaultStatementTimeoutMs,
  settings = {},
}: SessionOptions) {
  const options = { search_path: schema, timezone: 'UTC', ...settings };
  return {
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    // When the network fails without closing the connection, no reply ever arrives: the client needs its own time limit.
    query_timeout: statementTimeoutMs + 2_000,
    keepAlive: true,
    // Table names in raw SQL refer to the service's own schema first.
    options: Object.entries(options)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  };
}

async function connectWithin(dataSource: DataSource): Promise<void> {
  const deadline = Date.now() + firstConnectionLimitMs;
  for (;;) {
    try {
      await dataSource.initialize();
      return;
    } catch (error) {
      if (Date.now() > deadline || isFinal(error)) {
        throw new Error(
          `cannot connect to PostgreSQL: ${error instanceof Error ? error.message : String(error)}`,
          { cause: error },
        );
      }
      await wait(500);
    }
  }
}

/** Whether a retry cannot help: wrong password, unknown database, no permission. */
function isFinal(error: unknown): boolean {
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^(28|3D|42)/.test(code);
}
