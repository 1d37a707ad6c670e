import { setTimeout as wait } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { tryAdvisoryLock } from './advisory-locks.js';
import { refuseIncompleteRestore } from './backup/restore-mark.js';
import { sqlState } from './database-error.js';
import { refuseUnknownSchema, type Migration } from './schema-migration.js';

/** Maximum duration of one statement in a migration: building an index on a large table can take hours. */
export const migrationTimeoutMs = 6 * 3_600_000;

// How often to try for the migration lock. When instances start together, the wait is usually short, so try often at first; during a long
// migration, frequent attempts would load the database.
const firstPollMs = 10;
const lastPollMs = 250;

// How long each attempt may wait for a lock on a table. While a migration waits, all later statements on the table wait behind it, and a
// backup holds its locks until it ends. Each attempt waits longer, because a busy service's statements overlap.
const lockLimitsMs = [500, 1_000, 2_000, 4_000];
const lockRetryMs = 2_000;
const lockNotAvailable = '55P03';

interface MigrationOptions {
  schema: string;
  migrations: readonly Migration[];
  isRestoring?: boolean;
}

/**
 * Runs the pending migrations of a schema, each in its own transaction unless the migration opts out. When instances start together, one
 * migrates and the others wait. Afterwards, destroys the data source.
 *
 * @throws when a migration fails or cannot lock its tables in four attempts, when another version created the schema, when the schema
 * contains an incomplete restore, or when another session holds the migration lock for 6 hours
 */
export async function runMigrations(
  dataSource: DataSource,
  { schema, migrations, isRestoring = false }: MigrationOptions,
  connect: (dataSource: DataSource) => Promise<void>,
): Promise<void> {
  await connect(dataSource);
  try {
    // The pool has a single connection, so the lock and the migrations share a session.
    await waitForMigrationLock(dataSource, schema);
    const comment = await ensureSchema(dataSource, schema);
    if (!isRestoring) refuseIncompleteRestore(schema, comment);
    await refuseUnknownSchema(schema, migrations, (sql) => dataSource.query(sql));
    await migrateDespiteLocks(dataSource, schema);
  } finally {
    // Ending the session releases the lock.
    await dataSource.destroy();
  }
}

/** Runs the pending migrations, and retries a migration that cannot lock a table, in up to four attempts. */
async function migrateDespiteLocks(dataSource: DataSource, schema: string): Promise<void> {
  let lastError: unknown;
  for (const [attempt, limitMs] of lockLimitsMs.entries()) {
    if (attempt > 0) await wait(lockRetryMs);
    await dataSource.query(`SET lock_timeout = ${limitMs}`);
    try {
      await dataSource.runMigrations({ transaction: 'each' });
      return;
    } catch (error) {
      if (sqlState(error) !== lockNotAvailable) throw error;
      lastError = error;
    }
  }
  throw new Error(
    `cannot migrate schema ${schema}: another session, such as a backup, has locked a table that the migration changes. ` +
      'Start again when that session has ended; the start then continues the migration. ' +
      'Find the session with SELECT pid, application_name, query FROM pg_stat_activity ORDER BY xact_start LIMIT 5.',
    { cause: lastError },
  );
}

/**
 * Creates the schema if it is missing, and returns its comment. Avoids IF NOT EXISTS, which requires the right to create schemas even if
 * the schema exists.
 */
async function ensureSchema(dataSource: DataSource, schema: string): Promise<string | null> {
  const [found] = await dataSource.query<{ comment: string | null }[]>(
    `SELECT obj_description(oid, 'pg_namespace') AS comment FROM pg_namespace WHERE nspname = $1`,
    [schema],
  );
  if (!found) await dataSource.query(`CREATE SCHEMA ${schema}`);
  return found?.comment ?? null;
}

/**
 * Polls instead of waiting inside a statement. `CREATE INDEX CONCURRENTLY` waits for all running statements, so a statement that waits for
 * the lock would deadlock with a migration that builds an index.
 */
async function waitForMigrationLock(dataSource: DataSource, schema: string): Promise<void> {
  const deadline = performance.now() + migrationTimeoutMs;
  for (let pollMs = firstPollMs; !(await tryAdvisoryLock(dataSource, 'migrations')); pollMs *= 2) {
    if (performance.now() > deadline)
      throw new Error(
        `cannot migrate schema ${schema}: another session has held the migration lock for ${migrationTimeoutMs / 3_600_000} h. ` +
          "Find that session with SELECT * FROM pg_locks WHERE locktype = 'advisory', and end the session if it hangs.",
      );
    await wait(Math.min(pollMs, lastPollMs));
  }
}
