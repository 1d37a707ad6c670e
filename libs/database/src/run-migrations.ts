import type { DataSource } from 'typeorm';
import { advisoryLocks } from './advisory-locks.js';

/**
 * Runs a schema's pending migrations, each in its own transaction. Several instances may start at once: one migrates,
 * the others wait for it and then find nothing to do. The data source is destroyed afterwards.
 */
export async function runMigrations(
  dataSource: DataSource,
  schema: string,
  connect: (dataSource: DataSource) => Promise<void>,
): Promise<void> {
  await connect(dataSource);
  try {
    // The pool has one connection, so the lock, the migrations and the unlock share a session.
    await dataSource.query('SELECT pg_advisory_lock($1)', [advisoryLocks.migrations]);
    await dataSource.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await dataSource.runMigrations({ transaction: 'each' });
  } finally {
    // Ending the session also releases the lock.
    await dataSource.destroy();
  }
}
