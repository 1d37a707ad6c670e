import { firstIdAt, isJsonObject, parseJson, receivedAt, type StoredEvent } from '@stream-events/contracts';
import { takeKeyedAdvisoryLocks } from '@stream-events/database';
import type { Pool, PoolClient } from 'pg';
import { writeBatch, type EventRow, type WrittenBatch } from './write-batch.js';
import { findReceivedKeys, inTransaction, rememberKeys } from './write-transaction.js';

/** The fields of a stored raid that identify it. */
type StoredRaid = Pick<StoredEvent, 'id' | 'occurredAt' | 'eventData'>;

// Two messages at most this far apart count as the same raid, because the platform sends both messages about a raid at the same time.
const sameMomentMs = 10_000;
// Up to this distance, messages count as the same raid if their numbers of viewers are equal. The platform may redeliver a message with a
// later time, while another raid between the channels differs in its viewers.
const sameRaidMs = 5 * 60_000;
// How much earlier or later the other message may have been received: the platform retries each delivery for minutes.
const searchMs = 60 * 60_000;

/**
 * Whether the platform may report this raid twice: to the subscription of the raiding channel and, with another message id, to that of the
 * raided channel.
 */
export function isPlatformRaid({ origin, eventId, columns }: EventRow): boolean {
  return (
    columns.raidFromId !== null && columns.raidToId !== null && origin === 'platform' && eventId !== null
  );
}

/**
 * Writes platform raids in one transaction. If the other message about a raid is already stored, records this one as known, with the id of
 * the stored event. Idempotent by message key, like `writeBatch`.
 *
 * The two messages about a raid often arrive in the same millisecond at different instances, so writers of raids between the same channels
 * wait for each other. A writer takes all locks at once, before it touches a row, so that writers cannot deadlock.
 *
 * @param raids sorted by key and without repeated keys
 */
export async function writeRaids(pool: Pool, raids: readonly EventRow[]): Promise<WrittenBatch> {
  return inTransaction(pool, async (client) => {
    await takeKeyedAdvisoryLocks(client, 'raidChannels', raids.map(printChannels));
    // Separate statements, because their snapshots must be newer than the locks.
    const received = await findReceivedKeys(client, raids);
    const fresh: EventRow[] = [];
    const repeated: { key: string; id: string }[] = [];
    for (const raid of raids.filter(({ key }) => !received.has(key))) {
      const others = fresh.filter((other) => printChannels(other) === printChannels(raid));
      const same = [...(await findNearby(client, raid)), ...others].find((other) => isSameRaid(raid, other));
      if (same) repeated.push({ key: raid.key, id: same.id });
      else fresh.push(raid);
    }
    if (repeated.length > 0) await rememberKeys(client, repeated);
    return fresh.length > 0 ? writeBatch(client, fresh) : { outboxId: null, stored: [] };
  });
}

/** Returns the same text for all raids of one type between the same channels. */
function printChannels({ eventType, columns }: EventRow): string {
  return JSON.stringify([eventType, columns.raidFromId, columns.raidToId]);
}

/** Returns up to 100 platform raids between the same channels, received within an hour of this raid. */
async function findNearby(client: PoolClient, { id, eventType, columns }: EventRow): Promise<StoredRaid[]> {
  const time = receivedAt(id);
  const { rows } = await client.query<StoredRaid>(
    `SELECT id, event_data::text AS "eventData", (extract(epoch FROM occurred_at) * 1000)::float8 AS "occurredAt"
     FROM events
     WHERE raid_from_id = $1 AND event_type = $2 AND raid_to_id = $3 AND id BETWEEN $4 AND $5
       AND origin = 'platform' AND event_id IS NOT NULL
     ORDER BY id LIMIT 100`,
    [columns.raidFromId, eventType, columns.raidToId, firstIdAt(time - searchMs), firstIdAt(time + searchMs)],
  );
  return rows;
}

function isSameRaid(one: StoredRaid, other: StoredRaid): boolean {
  const apartMs = Math.abs(timeBetween(one, other));
  return apartMs <= sameMomentMs || (apartMs <= sameRaidMs && viewersOf(one) === viewersOf(other));
}

/**
 * Returns the difference in milliseconds: by the platform's clock, or by the times of receipt if the platform did not report both times.
 */
function timeBetween(one: StoredRaid, other: StoredRaid): number {
  return one.occurredAt != null && other.occurredAt != null
    ? one.occurredAt - other.occurredAt
    : receivedAt(one.id) - receivedAt(other.id);
}

/** Parse here, because PostgreSQL's JSON functions reject a document that contains an escaped NUL anywhere. */
function viewersOf({ eventData }: StoredRaid): unknown {
  try {
    const data = parseJson(eventData);
    return isJsonObject(data) ? data.viewers : undefined;
  } catch {
    // The database will reject the event with a better message.
    return undefined;
  }
}
