import pg from 'pg';
import { PrimaryClient, toPrimary } from '../primary-client.js';

const connectTimeoutMs = 10_000;

/**
 * Whether a role can log in. An existing role may still be refused: by the server's `pg_hba.conf`, or by a pooler's own list of users.
 *
 * @throws when the server does not respond
 */
export async function canLogIn(url: string): Promise<boolean> {
  const client = new PrimaryClient({ ...toPrimary(url), connectionTimeoutMillis: connectTimeoutMs });
  try {
    await client.connect();
    return true;
  } catch (error) {
    // A server refuses a role with SQLSTATE class 28, and poolers with 08P01.
    if (error instanceof pg.DatabaseError && /^(28|08P01)/.test(error.code ?? '')) return false;
    throw error;
  } finally {
    // Ignore the error: the result is known.
    await client.end().catch(() => undefined);
  }
}

/** Whether PostgreSQL denied a statement, because the role lacks a right (42501) or may not grant a role or privilege (0LP01). */
export function isPermissionError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '42501' || error.code === '0LP01');
}
