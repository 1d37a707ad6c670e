import type { MaintenanceSession } from '@stream-events/database';

/** The state of a partition during its removal. */
export type RemovalState = 'attached' | 'detaching' | 'detached' | 'gone';

// How long a detach waits for each transaction that reads `events`, and for autovacuum, which PostgreSQL cancels after one second. Keep it
// short: while a detach waits for its lock, no partition can be attached.
const lockLimitMs = 3_000;
// How long FINALIZE waits for a lock. FINALIZE locks the partition before it waits for older transactions. If such a transaction then reads
// the partition, the two deadlock. By default, PostgreSQL checks for deadlocks after a second, and the first session to check fails. This
// shorter limit makes sure that FINALIZE fails, not the reader.
const finalizeLockLimitMs = 500;

export async function readState(session: MaintenanceSession, partition: string): Promise<RemovalState> {
  const [row] = await session.query<{ state: RemovalState }>(
    `SELECT CASE WHEN found.oid IS NULL THEN 'gone' WHEN inhdetachpending THEN 'detaching'
                 WHEN inhrelid IS NULL THEN 'detached' ELSE 'attached' END AS state
     FROM (SELECT to_regclass($1)::oid AS oid) AS found
     LEFT JOIN pg_inherits ON inhrelid = found.oid AND inhparent = 'events'::regclass`,
    [partition],
  );
  return row?.state ?? 'gone';
}

/**
 * Detaches a partition while other sessions read and write `events`. If interrupted, leaves the partition in the state `detaching`.
 *
 * @throws SQLSTATE 55P03 when the statement waits too long for a lock, like the other statements in this file that take locks
 */
export async function detach(session: MaintenanceSession, partition: string): Promise<void> {
  await limitLocks(session, lockLimitMs);
  await session.query(`ALTER TABLE events DETACH PARTITION ${partition} CONCURRENTLY`);
}

export async function finalizeDetach(session: MaintenanceSession, partition: string): Promise<void> {
  await limitLocks(session, finalizeLockLimitMs);
  await session.query(`ALTER TABLE events DETACH PARTITION ${partition} FINALIZE`);
}

export async function drop(session: MaintenanceSession, partition: string): Promise<void> {
  await limitLocks(session, lockLimitMs);
  await session.query(`DROP TABLE IF EXISTS ${partition}`);
}

/**
 * Deletes the oldest rows with ids from `from` (inclusive) to `to` (exclusive), at most `limit` rows. Returns how many it deleted, and the
 * highest deleted id.
 *
 * To continue, pass that id as `from`: from a lower id, the statement would first read the index entries of all rows deleted since the last
 * vacuum.
 */
export async function deleteRange(
  session: MaintenanceSession,
  partition: string,
  { from, to, limit }: { from: string; to: string; limit: number },
): Promise<{ count: number; last: string | null }> {
  await limitLocks(session, lockLimitMs);
  const [row] = await session.query<{ count: number; last: string | null }>(
    // Find the highest id by sorting, because max(uuid) needs PostgreSQL 18.
    `WITH deleted AS (
       DELETE FROM ${partition} WHERE id IN (SELECT id FROM ${partition} WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3) RETURNING id
     ) SELECT count(*)::int AS count, (SELECT id FROM deleted ORDER BY id DESC LIMIT 1) AS last FROM deleted`,
    [from, to, limit],
  );
  return row ?? { count: 0, last: null };
}

async function limitLocks(session: MaintenanceSession, milliseconds: number): Promise<void> {
  await session.query(`SET lock_timeout = ${milliseconds}`);
}
