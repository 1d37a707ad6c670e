import pg from 'pg';
import { PrimaryClient, toPrimary } from '../primary-client.js';

const connectTimeoutMs = 3_000;

/**
 * Whether a role can log in. A server can know a role and still refuse it, by `pg_hba.conf` or because a pooler has its own list.
 *
 * @throws when the server does not respond
 */
export async function canLogIn(url: string): Promise<boolean> {
  const client = new PrimaryClient({ ...toPrimary(url), connectionTimeoutMillis: connectTimeoutMs });
  try {
    await client.connect();
    return true;
  } catch (error) {
    // Class 28: the server refuses the role. 08P01: what poolers send.
    if (error instanceof pg.DatabaseError && /^(28|08P01)/.test(error.code ?? '')) return false;
    throw error;
  } finally {
    // The result is known already, or its failure is being thrown.
    await client.end().catch(() => undefined);
  }
}

/** Whether PostgreSQL denied a statement: the session's role lacks a right (42501), or may not pass a right on (0LP01). */
export function isPermissionError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '42501' || error.code === '0LP01');
}
