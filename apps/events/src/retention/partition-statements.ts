import type { MaintenanceSession } from '@stream-events/database';

/** The state of a partition during its removal. */
export type RemovalState = 'attached' | 'detaching' | 'detached' | 'gone';

// How long detaching waits for each transaction that reads `events`, and for autovacuum, which PostgreSQL cancels after one second. While
// detaching waits for the lock on the partition, no other partition can be attached.
const lockLimitMs = 3_000;
// Lock timeout of FINALIZE. FINALIZE locks the partition before it waits for older transactions. If such a transaction reads the partition
// later, it deadlocks with FINALIZE, and the session that detects the deadlock first (after one second, by default) fails. With this
// shorter limit, FINALIZE always fails instead of the reader.
const finalizeLockLimitMs = 500;

/** Returns the state of a partition during its removal. */
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
 * Detaches a partition while other sessions read and write `events`. An interrupted call leaves the partition in the state `detaching`.
 *
 * @throws SQLSTATE 55P03 when the statement waits too long for the locks of another transaction. The other statements in this file throw
 * this error as well
 */
export async function detach(session: MaintenanceSession, partition: string): Promise<void> {
  await limitLocks(session, lockLimitMs);
  await session.query(`ALTER TABLE events DETACH PARTITION ${partition} CONCURRENTLY`);
}

/** Completes an interrupted `detach`. */
export async function finalizeDetach(session: MaintenanceSession, partition: string): Promise<void> {
  await limitLocks(session, finalizeLockLimitMs);
  await session.query(`ALTER TABLE events DETACH PARTITION ${partition} FINALIZE`);
}

/** Drops a detached partition. */
export async function drop(session: MaintenanceSession, partition: string): Promise<void> {
  await limitLocks(session, lockLimitMs);
  await session.query(`DROP TABLE IF EXISTS ${partition}`);
}

/**
 * Deletes the oldest rows of a partition whose ids are in a range (`from` is inclusive, `to` is exclusive), at most `limit` rows. Returns
 * the number of deleted rows, and the highest deleted id.
 *
 * To continue, pass the highest deleted id as `from`. From a lower id, the statement would read the index entries of all rows that were
 * deleted since the last vacuum.
 */
export async function deleteRange(
  session: MaintenanceSession,
  partition: string,
  { from, to, limit }: { from: string; to: string; limit: number },
): Promise<{ count: number; last: string | null }> {
  await limitLocks(session, lockLimitMs);
  const [row] = await session.query<{ count: number; last: string | null }>(
    // Sorts to find the highest id, because max(uuid) needs PostgreSQL 18.
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
