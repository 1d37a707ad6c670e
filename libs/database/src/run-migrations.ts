import { setTimeout as wait } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { tryAdvisoryLock } from './advisory-locks.js';
import { refuseIncompleteRestore } from './backup/restore-mark.js';
import { sqlState } from './database-error.js';

/** Time limit of one statement of a migration. Building an index on a large table can take hours. */
export const migrationTimeoutMs = 6 * 3_600_000;

// When instances start together, they usually wait only for a few short migrations, so poll often at first. During a long migration,
// frequent polls would load the database.
const firstPollMs = 10;
const lastPollMs = 250;

// How long each attempt waits for a lock on a table. While a migration waits for a lock, all other sessions wait behind it, and a backup
// holds its locks until it ends. Later attempts wait longer, because the statements of a busy service overlap.
const lockLimitsMs = [500, 1_000, 2_000, 4_000];
const lockRetryMs = 2_000;
const lockNotAvailable = '55P03';

/**
 * Runs the pending migrations of a schema, each in its own transaction unless it opts out. When several instances start at once, one migrates
 * and the others wait. Destroys the data source afterwards.
 *
 * @throws when a migration fails, or when it cannot lock its tables in a few attempts
 */
export async function runMigrations(
  dataSource: DataSource,
  { schema, isRestoring = false }: { schema: string; isRestoring?: boolean },
  connect: (dataSource: DataSource) => Promise<void>,
): Promise<void> {
  await connect(dataSource);
  try {
    // The pool has one connection, so the lock and the migrations share a session.
    await waitForMigrationLock(dataSource, schema);
    const comment = await ensureSchema(dataSource, schema);
    if (!isRestoring) refuseIncompleteRestore(schema, comment);
    await migrateDespiteLocks(dataSource, schema);
  } finally {
    // The end of the session releases the lock.
    await dataSource.destroy();
  }
}

/** Runs the pending migrations. Repeats a migration that cannot lock a table. */
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
 * Creates the schema when it is missing, and returns its comment. Avoids IF NOT EXISTS, which needs the right to create schemas even if the
 * schema exists.
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
 * Waits by polling. `CREATE INDEX CONCURRENTLY` waits for the end of all running statements, so a session that waited for the
 * lock inside a statement would deadlock with a migration that builds an index.
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
