import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { runMigrations } from './run-migrations.js';

/** How a service reaches its own schema. */
export interface PoolOptions {
  url: string;
  /** The schema that this service owns; it never reads another's. */
  schema: string;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Connections at most. */
  poolSize: number;
  /** How long one query may take; 10 s when not given. */
  statementTimeoutMs?: number;
}

/** The same with the tables and their migrations. */
export interface DatabaseOptions extends PoolOptions {
  entities: NonNullable<DataSourceOptions['entities']>;
  migrations: NonNullable<DataSourceOptions['migrations']>;
}

// Long enough for a database that starts together with the service, short enough for an orchestrator to notice.
const firstConnectionLimitMs = 30_000;

const connectTimeoutMs = 3_000;

// No query of a service runs longer: a client has given up by then.
const defaultStatementTimeoutMs = 10_000;

// An index on a large table takes its time, and so does waiting for the instance that makes it.
const migrationTimeoutMs = 6 * 3_600_000;

/**
 * Connects to PostgreSQL and brings the service's schema up to date; the first connection is tried for half a minute.
 *
 * @throws when the database does not answer, or a migration fails
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
 * A pool of connections of its own beside the data source, for statements that are too hot for it: named statements, which
 * each connection plans once, and binary parameters. Nothing is connected yet.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    ...sessionSettings(options),
  });
  // A connection that breaks while nobody uses it is made again when it is needed: whoever uses one gets the error.
  pool.on('error', () => undefined);
  endStuckConnections(pool);
  return pool;
}

/** The parts of pg's pool and client that are needed here. */
interface PoolOfClients {
  on(event: 'release', listener: (error: unknown, client: PooledClient) => void): void;
}
interface PooledClient {
  /** The query whose answer it waits for; private to pg, whose public name for it is deprecated without another. */
  _activeQuery?: unknown;
  connection: { stream: { destroy(): void } };
}

function dropStuckConnections(dataSource: DataSource): void {
  const { master } = dataSource.driver as unknown as { master: PoolOfClients }; // holds: the driver of type postgres keeps its pool there
  endStuckConnections(master);
}

/**
 * Ends connections that come back to the pool in the middle of a query: their server was cut off, and what is asked of
 * them next would wait for an answer that never comes.
 */
function endStuckConnections(pool: PoolOfClients): void {
  pool.on('release', (_error, client) => {
    if (client._activeQuery) client.connection.stream.destroy();
  });
}

/** The data source of a service, not yet connected. */
export function createDataSource(options: DatabaseOptions): DataSource {
  return new DataSource({
    type: 'postgres',
    url: options.url,
    schema: options.schema,
    applicationName: options.applicationName,
    entities: options.entities,
    migrations: options.migrations,
    migrationsTableName: 'migrations',
    synchronize: false,
    logging: false,
    poolSize: options.poolSize,
    connectTimeoutMS: connectTimeoutMs,
    extra: sessionSettings(options),
  });
}

function sessionSettings({ schema, statementTimeoutMs = defaultStatementTimeoutMs }: PoolOptions) {
  return {
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    // A server that was cut off (not closed) never answers: the client must give up on its own.
    query_timeout: statementTimeoutMs + 2_000,
    keepAlive: true,
    // Names in raw SQL are found in the service's own schema first.
    options: `-c search_path=${schema},public -c timezone=UTC`,
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
          `could not connect to PostgreSQL: ${error instanceof Error ? error.message : String(error)}`,
          { cause: error },
        );
      }
      await wait(500);
    }
  }
}

/** Wrong password, unknown database, no permission: waiting does not help. */
function isFinal(error: unknown): boolean {
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^(28|3D|42)/.test(code);
}
