import { firstIdAt, receivedAt } from '@stream-events/contracts';
import { takeKeyedAdvisoryLocks } from '@stream-events/database';
import type { Pool, PoolClient } from 'pg';
import { assignRaids, channelsOf, maxRetriedMs, type RaidRow, type ReportedRaid } from './match-raids.js';
import { writeBatch, type WrittenBatch } from './write-batch.js';
import { findReceivedKeys, inTransaction, rememberKeys } from './write-transaction.js';

/**
 * Writes platform raids in one transaction. If the other message about a raid is already stored (see `assignRaids`), records this one as
 * known, with the id of the stored event. Idempotent by message key, like `writeBatch`.
 *
 * The two messages about a raid often arrive in the same millisecond at different instances, so writers of raids between the same channels
 * wait for each other. A writer takes all locks at once, before it touches a row, so that writers cannot deadlock.
 *
 * @param raids sorted by key and without repeated keys
 */
export async function writeRaids(pool: Pool, raids: readonly RaidRow[]): Promise<WrittenBatch> {
  return inTransaction(pool, async (client) => {
    await takeKeyedAdvisoryLocks(client, 'raidChannels', raids.map(channelsOf));
    // Separate statements, because their snapshots must be newer than the locks.
    const received = await findReceivedKeys(client, raids);
    const incoming = raids.filter(({ key }) => !received.has(key));
    const nearby: ReportedRaid[] = [];
    for (const raid of incoming) nearby.push(...(await findNearby(client, raid)));
    const eventIds = assignRaids(incoming, nearby);
    const joined = [...eventIds].flatMap(([{ key, id: own }, id]) => (id === own ? [] : [{ key, id }]));
    if (joined.length > 0) await rememberKeys(client, joined);
    if (eventIds.size > 0) await rememberReports(client, eventIds);
    const fresh = raids.filter((raid) => eventIds.get(raid) === raid.id);
    return fresh.length > 0 ? writeBatch(client, fresh) : { outboxId: null, stored: [] };
  });
}

/** Returns the last 100 reported raids between the same channels, received within an hour of this raid. */
async function findNearby(client: PoolClient, raid: RaidRow): Promise<ReportedRaid[]> {
  const { eventType, columns } = raid;
  const time = receivedAt(raid.id);
  const { rows } = await client.query<Omit<ReportedRaid, 'channels'>>(
    `SELECT id, event_data::text AS "eventData", (extract(epoch FROM occurred_at) * 1000)::float8 AS "occurredAt", reports
     FROM events CROSS JOIN LATERAL (
       SELECT json_agg(json_build_object('subscription', subscription)) AS reports
       FROM raid_reports WHERE raid_reports.event_id = events.id
     ) AS reported
     WHERE raid_from_id = $1 AND event_type = $2 AND raid_to_id = $3 AND id BETWEEN $4 AND $5 AND reports IS NOT NULL
     ORDER BY id DESC LIMIT 100`,
    [
      columns.raidFromId,
      eventType,
      columns.raidToId,
      firstIdAt(time - maxRetriedMs),
      firstIdAt(time + maxRetriedMs + 1),
    ],
  );
  return rows.map((row) => ({ ...row, channels: channelsOf(raid) }));
}

async function rememberReports(client: PoolClient, eventIds: ReadonlyMap<RaidRow, string>): Promise<void> {
  await client.query(
    'INSERT INTO raid_reports (event_id, subscription) SELECT * FROM unnest($1::uuid[], $2::text[])',
    [[...eventIds.values()], [...eventIds.keys()].map(({ delivery }) => delivery.subscription)],
  );
}
