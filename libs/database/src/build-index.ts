import type { QueryRunner } from 'typeorm';

// How long to wait for other transactions. Other sessions are not blocked during this wait.
const waitLimitMs = 60_000;

/**
 * Builds an index while other sessions read and write the table, unless the index already exists. For migrations outside a transaction
 * (`transaction = false`), which run again from their beginning after a failure or a crash.
 *
 * @param definition the part of CREATE INDEX from the name of the table on
 * @throws when another session is in a transaction for longer than a minute. An invalid index can remain; the next attempt replaces it.
 */
export async function buildIndex(queryRunner: QueryRunner, name: string, definition: string): Promise<void> {
  if (await isValid(queryRunner, name)) return; // an earlier attempt has built the index
  await withPatience(queryRunner, async () => {
    await drop(queryRunner, name); // left by an interrupted attempt
    try {
      await queryRunner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${definition}`);
    } catch (error) {
      // A failed build leaves an invalid index, which would slow down every write.
      await drop(queryRunner, name).catch(() => undefined);
      throw error;
    }
  });
}

/**
 * Drops an index, if it exists, while other sessions read and write the table. Cannot run in a transaction.
 *
 * @throws when another session is in a transaction for longer than a minute
 */
export async function dropIndex(queryRunner: QueryRunner, name: string): Promise<void> {
  await withPatience(queryRunner, () => drop(queryRunner, name));
}

async function drop(queryRunner: QueryRunner, name: string): Promise<void> {
  await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
}

async function isValid(queryRunner: QueryRunner, name: string): Promise<boolean> {
  const [index] = (await queryRunner.query(
    'SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass($1)',
    [name],
  )) as { isValid: boolean }[]; // Safe cast: the columns of the query.
  return index?.isValid === true;
}

/** Runs statements with a longer lock timeout than that of the session. */
async function withPatience(queryRunner: QueryRunner, work: () => Promise<void>): Promise<void> {
  // Safe cast: PostgreSQL returns one row with this column.
  const [limit] = (await queryRunner.query('SHOW lock_timeout')) as { lock_timeout: string }[];
  await queryRunner.query(`SET lock_timeout = ${waitLimitMs}`);
  try {
    await work();
  } finally {
    await queryRunner.query(`SET lock_timeout = '${limit?.lock_timeout ?? 0}'`);
  }
}
