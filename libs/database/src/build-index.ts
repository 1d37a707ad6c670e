import type { QueryRunner } from 'typeorm';

// How long to wait for other transactions, which can continue in the meantime.
const waitLimitMs = 60_000;

/**
 * Builds an index while other sessions read and write the table. Does nothing if a valid index with this name exists. Use this in
 * migrations with `transaction = false`, which start over after a failure or a crash.
 *
 * @param definition the part of CREATE INDEX from the table name on
 * @throws when another session's transaction takes longer than a minute; an invalid index may remain, which the next attempt replaces
 */
export async function buildIndex(queryRunner: QueryRunner, name: string, definition: string): Promise<void> {
  if (await isValid(queryRunner, name)) return; // built by an earlier attempt
  await withPatience(queryRunner, async () => {
    await drop(queryRunner, name); // left by an interrupted attempt
    try {
      await queryRunner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${definition}`);
    } catch (error) {
      // A failed build leaves an invalid index that would slow down every write.
      await drop(queryRunner, name).catch(() => undefined);
      throw error;
    }
  });
}

/**
 * Drops an index if it exists, while other sessions read and write the table. Does not work inside a transaction.
 *
 * @throws when another session's transaction takes longer than a minute
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
  )) as { isValid: boolean }[]; // Safe cast: this is the column of the query.
  return index?.isValid === true;
}

/** Runs `work` with a longer lock timeout, then restores the session's own. */
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
