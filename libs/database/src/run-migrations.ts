import type { DataSource } from 'typeorm';
import { advisoryLocks } from './advisory-locks.js';

/**
 * Runs the pending migrations of a schema, each in its own transaction. When several instances start at once, one migrates
 * and the others wait. Destroys the data source afterwards.
 */
export async function runMigrations(
  dataSource: DataSource,
  schema: string,
  connect: (dataSource: DataSource) => Promise<void>,
): Promise<void> {
  await connect(dataSource);
  try {
    // The pool has one connection, so the lock and the migrations share a session.
    await dataSource.query('SELECT pg_advisory_lock($1)', [advisoryLocks.migrations]);
    await dataSource.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await dataSource.runMigrations({ transaction: 'each' });
  } finally {
    // The end of the session releases the lock.
    await dataSource.destroy();
  }
}
