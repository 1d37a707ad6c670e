import { randomBytes } from 'node:crypto';
import type { BackedUpSchema } from '@stream-events/database/backup';
import type pg from 'pg';
import { schema } from './events.database.js';
import { userHashKeyColumn } from './store/user-hash-keys.js';

export { addErasures, parseErasureList, readErasureList, type ErasureList } from './erasure/erasure-list.js';

/** The part of a backup that the events service owns. */
export const eventsBackup: BackedUpSchema = schema;

/** The table of the keys that hash the ids of erased users. */
export const userHashKeysTable = userHashKeyColumn.table;

/**
 * Records an epoch that no stream has. At its next start, the events service then treats the EVENTS stream as a different stream, and gives
 * it a new epoch. A client with a position from before the restore therefore gets a gap. Without this step, a stream that NATS has kept
 * would look intact, although it contains events that the restored store does not have.
 */
export async function forgetEventsStream(queries: Pick<pg.Client, 'query'>): Promise<void> {
  const epoch = randomBytes(4).toString('hex');
  await queries.query('UPDATE event_stream SET epoch = $1, last_sequence = 0', [epoch]);
}

/**
 * Deletes the erasures that have ended. Call this when the keys that created their hashes are lost, because an ended erasure identifies its
 * user only by the hash.
 */
export async function forgetUserHashes(queries: Pick<pg.Client, 'query'>): Promise<void> {
  await queries.query('DELETE FROM erasures WHERE ended_at IS NOT NULL');
}
