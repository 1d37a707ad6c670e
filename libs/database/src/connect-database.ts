import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { PrimaryClient, toPrimary } from './primary-client.js';
import { refuseTransactionPooler } from './refuse-transaction-pooler.js';
import { migrationTimeoutMs, runMigrations } from './run-migrations.js';
import { migrationsTable, refuseUnknownSchema, type Migration } from './schema-migration.js';
import {
  applySettings,
  connectionOptions,
  defaultConnectTimeoutMs,
  type SessionOptions,
} from './session-settings.js';

export type { SessionOptions };

/** How a service connects to its schema through a pool. */
export interface PoolOptions extends SessionOptions {
  poolSize: number;
  /**
   * Maximum age of a connection; unlimited by default. Only `createPool` uses this option. A replacement starts without the prepared
   * statements of the old connection.
   */
  maxLifetimeSeconds?: number;
}

/** How a service connects to its schema, with its entities and migrations. */
export interface DatabaseOptions extends PoolOptions {
  entities: NonNullable<DataSourceOptions['entities']>;
  /** In order. The first one creates the schema. */
  migrations: readonly Migration[];
  /** Set while a backup is being restored. If false, connecting fails when the schema contains an incomplete restore. */
  isRestoring?: boolean;
}

// How long to retry the first connection: long enough for a database that starts along with the service. After a longer outage, the service
// fails to start, and the orchestrator restarts it.
const firstConnectionLimitMs = 30_000;

// How long to keep an idle connection open. A request that needs a new connection waits for DNS, a new PostgreSQL process, the password
// check, and the planning of its statements. With pg's default of 10 s, that would slow down most requests to a service with little load.
const idleTimeoutMillis = 5 * 60_000;

/**
 * Connects to PostgreSQL, retrying for up to 30 s, and runs the pending migrations.
 *
 * @throws when the database does not respond, a migration fails, a pooler shares sessions between clients, another version created the
 * schema, or the schema contains an incomplete restore
 */
export async function connectDatabase(options: DatabaseOptions): Promise<DataSource> {
  await migrateDatabase(options);
  const dataSource = createDataSource(options);
  await connectWithin(dataSource);
  dropStuckConnections(dataSource);
  return dataSource;
}

/**
 * Runs the pending migrations and disconnects. Retries the connection for up to 30 s.
 *
 * @throws when the database does not respond, a pooler shares sessions between clients, a migration fails, another version created the
 * schema, or the schema contains an incomplete restore
 */
export async function migrateDatabase(options: Omit<DatabaseOptions, 'poolSize'>): Promise<void> {
  const migrating = createDataSource({ ...options, poolSize: 1, statementTimeoutMs: migrationTimeoutMs });
  await runMigrations(migrating, options, async (source) => {
    await connectWithin(source);
    try {
      await refuseTransactionPooler(options);
    } catch (error) {
      await source.destroy();
      throw error;
    }
  });
}

/**
 * Checks that this version knows the schema, and changes nothing. Retries the connection for up to 30 s.
 *
 * @throws when the database does not respond, or another version created the schema
 */
export async function checkSchema(options: Omit<DatabaseOptions, 'poolSize' | 'entities'>): Promise<void> {
  const dataSource = createDataSource({ ...options, entities: [], poolSize: 1 });
  await connectWithin(dataSource);
  try {
    await refuseUnknownSchema(options.schema, options.migrations, (sql) => dataSource.query(sql));
  } finally {
    await dataSource.destroy();
  }
}

/**
 * Creates a separate connection pool for the most frequent statements, which need what TypeORM lacks: named statements, which each
 * connection prepares only once, and binary parameters. The pool connects on first use.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...toPrimary(options.url),
    application_name: options.applicationName,
    max: options.poolSize,
    connectionTimeoutMillis: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
    ...(options.maxLifetimeSeconds !== undefined && { maxLifetimeSeconds: options.maxLifetimeSeconds }),
    ...poolOptions(options),
  });
  // The pool replaces idle connections that break; for a connection in use, the code that uses it gets the error.
  pool.on('error', () => undefined);
  endStuckConnections(pool);
  return pool;
}

/** Opens a connection outside any pool, for a long session. The caller must close it. */
export async function connectClient(options: SessionOptions): Promise<pg.Client> {
  const client = new PrimaryClient({
    ...toPrimary(options.url),
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
    ...connectionOptions(options),
  });
  try {
    await client.connect();
    await applySettings(client, options);
    return client;
  } catch (error) {
    // Ignore this error: the caller gets the first one, and the connection is lost in any case.
    await client.end().catch(() => undefined);
    throw error;
  }
}

/** The parts of pg's pool and client that `endStuckConnections` uses. */
interface PoolOfClients {
  on(event: 'release', listener: (error: unknown, client: PooledClient) => void): void;
}
interface PooledClient {
  /** The query that the client is waiting for. This field is private to pg, but its public name is deprecated without a replacement. */
  _activeQuery?: unknown;
  connection: { stream: { destroy(): void } };
}

function dropStuckConnections(dataSource: DataSource): void {
  const { master } = dataSource.driver as unknown as { master: PoolOfClients }; // Safe cast: TypeORM's postgres driver keeps its pool there.
  endStuckConnections(master);
}

/**
 * Destroys connections that are released to the pool in the middle of a query. Such a query has timed out without a reply, usually because
 * the network failed. Later queries on the connection would time out as well.
 */
function endStuckConnections(pool: PoolOfClients): void {
  pool.on('release', (_error, client) => {
    if (client._activeQuery) client.connection.stream.destroy();
  });
}

/** Creates a service's data source without connecting. */
export function createDataSource(options: DatabaseOptions): DataSource {
  const { connectionString, ...primary } = toPrimary(options.url);
  return new DataSource({
    type: 'postgres',
    url: connectionString,
    schema: options.schema,
    applicationName: options.applicationName,
    entities: options.entities,
    migrations: [...options.migrations],
    migrationsTableName: migrationsTable,
    synchronize: false,
    // A service's role may not create extensions, and no service needs one.
    installExtensions: false,
    logging: false,
    poolSize: options.poolSize,
    connectTimeoutMS: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
    extra: { ...primary, ...poolOptions(options) },
  });
}

function poolOptions(options: SessionOptions) {
  return {
    ...connectionOptions(options),
    idleTimeoutMillis,
    onConnect: (client: pg.ClientBase) => applySettings(client, options),
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

/** Whether a retry is useless: wrong password, unknown database, or missing permission. */
function isFinal(error: unknown): boolean {
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^(28|3D|42)/.test(code);
}
