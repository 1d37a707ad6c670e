import type { QueryRunner } from 'typeorm';

// How long to wait for transactions that began before the build. Other sessions are not blocked during this wait.
const waitLimitMs = 60_000;

/**
 * Builds an index while other sessions read and write the table. For migrations outside a transaction (`transaction = false`), which
 * run again from their beginning after a failure or a crash.
 *
 * @param definition the part of CREATE INDEX from the name of the table on
 * @throws when another session is in a transaction for longer than a minute. The index does not exist then.
 */
export async function buildIndex(queryRunner: QueryRunner, name: string, definition: string): Promise<void> {
  const [limit] = (await queryRunner.query('SHOW lock_timeout')) as { lock_timeout: string }[];
  await queryRunner.query(`SET lock_timeout = ${waitLimitMs}`);
  try {
    await dropIndex(queryRunner, name); // left by an interrupted attempt
    await queryRunner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${definition}`);
  } catch (error) {
    // A failed build leaves an invalid index, which would slow down every write.
    await dropIndex(queryRunner, name).catch(() => undefined);
    throw error;
  } finally {
    await queryRunner.query(`SET lock_timeout = '${limit?.lock_timeout ?? 0}'`);
  }
}

/** Drops an index, if it exists, while other sessions read and write the table. Cannot run in a transaction. */
export async function dropIndex(queryRunner: QueryRunner, name: string): Promise<void> {
  await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
}
