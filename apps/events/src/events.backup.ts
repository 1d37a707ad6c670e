import { randomBytes } from 'node:crypto';
import type { BackedUpSchema } from '@stream-events/database/backup';
import type pg from 'pg';
import { schema } from './events.database.js';
import { userHashKeyColumn } from './store/user-hash-key.js';

export { addErasures, parseErasureList, readErasureList, type ErasureList } from './erasure/erasure-list.js';

/** The schema that a backup covers for the events service. */
export const eventsBackup: BackedUpSchema = schema;

/** The table with the key for hashing the ids of erased users. */
export const userHashKeysTable = userHashKeyColumn.table;

/**
 * Gives the restored store an epoch that no stream has. At its next start, the events service therefore treats the EVENTS stream as a
 * different one and changes its epoch. Clients with a position from before the restore then get a gap. Without this step, a stream that
 * survived in NATS would look intact, although it contains events that the restored store lacks.
 */
export async function forgetEventsStream(queries: Pick<pg.Client, 'query'>): Promise<void> {
  const epoch = randomBytes(4).toString('hex');
  await queries.query('UPDATE event_stream SET epoch = $1, last_sequence = 0', [epoch]);
}

/** Deletes all ended erasures. Call this when the hash key is lost: without the key, their hashes identify nobody. */
export async function forgetUserHashes(queries: Pick<pg.Client, 'query'>): Promise<void> {
  await queries.query('DELETE FROM erasures WHERE ended_at IS NOT NULL');
}
