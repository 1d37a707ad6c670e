import { sqlState } from '@stream-events/database';
import type { Pool, PoolClient } from 'pg';
import type { EventRow } from './write-batch.js';

/** Runs `work` in a transaction on one connection and returns its result. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  // The next query reports a broken connection. Without a listener, the error event would end the process.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  let isUsable = true;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    isUsable = sqlState(error) !== undefined && (await rollBack(client));
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(!isUsable);
  }
}

/** Returns the keys of messages that were received before. */
export async function findReceivedKeys(client: PoolClient, rows: readonly EventRow[]): Promise<Set<string>> {
  const { rows: received } = await client.query<{ key: string }>(
    'SELECT key FROM received_messages WHERE key = ANY($1::uuid[])',
    [rows.map(({ key }) => key)],
  );
  return new Set(received.map(({ key }) => key));
}

/** Marks messages as received, each with the id of the event that it repeats. */
export async function rememberKeys(
  client: PoolClient,
  messages: readonly { key: string; id: string }[],
): Promise<void> {
  await client.query(
    `INSERT INTO received_messages (key, event_id)
     SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS message (key, event_id) ORDER BY key
     ON CONFLICT (key) DO NOTHING`,
    [messages.map(({ key }) => key), messages.map(({ id }) => id)],
  );
}

/** Returns false if the connection is broken. */
async function rollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}
