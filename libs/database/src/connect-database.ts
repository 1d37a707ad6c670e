import { setTimeout as wait } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { runMigrations } from './run-migrations.js';

/** How a service reaches its own schema. */
export interface DatabaseOptions {
  url: string;
  /** The schema that this service owns; it never reads another's. */
  schema: string;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  entities: NonNullable<DataSourceOptions['entities']>;
  migrations: NonNullable<DataSourceOptions['migrations']>;
  /** Connections at most. */
  poolSize: number;
  /** How long one query may take; 10 s when not given. */
  statementTimeoutMs?: number;
}

// Long enough for a database that starts together with the service, short enough for an orchestrator to notice.
const firstConnectionLimitMs = 30_000;

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

/** The parts of pg's pool and client that are needed here. */
interface PoolOfClients {
  on(event: 'release', listener: (error: unknown, client: PooledClient) => void): void;
}
interface PooledClient {
  /** The query whose answer it waits for; private to pg, whose public name for it is deprecated without another. */
  _activeQuery?: unknown;
  connection: { stream: { destroy(): void } };
}

/**
 * Ends connections that come back to the pool in the middle of a query: their server was cut off, and what is asked of
 * them next would wait for an answer that never comes.
 */
function dropStuckConnections(dataSource: DataSource): void {
  const { master } = dataSource.driver as unknown as { master: PoolOfClients }; // holds: the driver of type postgres keeps its pool there
  master.on('release', (_error, client) => {
    if (client._activeQuery) client.connection.stream.destroy();
  });
}

/** The data source of a service, not yet connected. */
export function createDataSource(options: DatabaseOptions): DataSource {
  const { statementTimeoutMs = defaultStatementTimeoutMs } = options;
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
    connectTimeoutMS: 3_000,
    extra: {
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: statementTimeoutMs,
      // A server that was cut off (not closed) never answers: the client must give up on its own.
      query_timeout: statementTimeoutMs + 2_000,
      keepAlive: true,
      // Names in raw SQL are found in the service's own schema first.
      options: `-c search_path=${options.schema},public -c timezone=UTC`,
    },
  });
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
