import { readEventColumns, type EventColumns, type NewEvent } from '@stream-events/contracts';
import type { Pool } from 'pg';
import { encodeBigintArray, encodeTextArray, encodeUuidArray } from './binary-arrays.js';
import { receivedMessageKey } from './received-message-key.js';

/** A new event with its key and its filter columns, ready to be written. */
export interface EventRow extends NewEvent, EventColumns {
  key: string;
}

/** What a write did: which rows are new, and the outbox row that stands for them until they are published. */
export interface WrittenBatch {
  /** Null when nothing was new. */
  outboxId: string | null;
  stored: readonly EventRow[];
}

/** The row that an event becomes. Its id is in lower case, as the database prints it. */
export function toRow(event: NewEvent): EventRow {
  const id = event.id.toLowerCase();
  const columns = readEventColumns(event.eventType, event.eventData);
  // Field by field: spreading objects costs more here than everything else about an event.
  return {
    key: receivedMessageKey(event),
    id,
    eventId: event.eventId,
    eventType: event.eventType,
    eventSource: event.eventSource,
    origin: event.origin,
    eventData: event.eventData,
    idempotencyKey: event.idempotencyKey,
    occurredAt: event.occurredAt ?? null,
    broadcasterUserId: columns.broadcasterUserId,
    userId: columns.userId,
    userName: columns.userName,
    rewardId: columns.rewardId,
    raidFrom: columns.raidFrom,
    raidTo: columns.raidTo,
  };
}

// One statement, one commit: received_messages decides what is new, events gets that, one outbox row stands for it.
const statement = `
  WITH input AS (
    SELECT * FROM unnest(
      $1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
      $10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[]
    ) AS input (
      key, id, event_id, event_type, event_source, origin, event_data, broadcaster_user_id, user_id,
      user_name, reward_id, raid_from, raid_to, occurred_at
    )
  ), received AS (
    INSERT INTO received_messages (key, event_id)
    SELECT key, id FROM input ORDER BY key
    ON CONFLICT (key) DO NOTHING
    RETURNING key
  ), inserted AS (
    INSERT INTO events (
      id, event_id, event_type, event_source, origin, event_data, broadcaster_user_id, user_id,
      user_name, reward_id, raid_from, raid_to, occurred_at
    )
    SELECT
      id, event_id, event_type, event_source, origin, event_data::json, broadcaster_user_id, user_id,
      user_name, reward_id, raid_from, raid_to, to_timestamp(occurred_at / 1000.0)
    FROM input JOIN received USING (key)
    ORDER BY id
    RETURNING id
  ), entry AS (
    INSERT INTO outbox (event_ids, claimed_until)
    SELECT array_agg(id), now() + interval '10 seconds' FROM inserted HAVING count(*) > 0
    RETURNING id, cardinality(event_ids) AS stored
  )
  SELECT
    id AS "outboxId",
    -- Nearly always everything is new: then there is nothing to list, and nothing to read.
    CASE WHEN stored < cardinality($1::uuid[]) THEN ARRAY(SELECT id FROM inserted) END AS "storedIds"
  FROM entry`;

/**
 * Writes a batch in one statement and one commit. Rows whose message was received before are left out.
 *
 * @param rows sorted by key, each key once: two batches with common keys must not deadlock
 */
export async function writeBatch(pool: Pool, rows: readonly EventRow[]): Promise<WrittenBatch> {
  const text = (column: (row: EventRow) => string | null): Buffer => encodeTextArray(rows.map(column));
  const { rows: written } = await pool.query<{ outboxId: string; storedIds: string[] | null }>({
    // Named: each connection plans the statement once.
    name: 'write-batch',
    text: statement,
    values: [
      encodeUuidArray(rows.map((row) => row.key)),
      encodeUuidArray(rows.map((row) => row.id)),
      text((row) => row.eventId),
      text((row) => row.eventType),
      text((row) => row.eventSource),
      text((row) => row.origin),
      text((row) => row.eventData),
      text((row) => row.broadcasterUserId),
      text((row) => row.userId),
      text((row) => row.userName),
      text((row) => row.rewardId),
      text((row) => row.raidFrom),
      text((row) => row.raidTo),
      encodeBigintArray(rows.map((row) => row.occurredAt ?? null)),
    ],
  });
  const [entry] = written;
  if (!entry) return { outboxId: null, stored: [] };
  if (!entry.storedIds) return { outboxId: entry.outboxId, stored: rows };
  const ids = new Set(entry.storedIds);
  return { outboxId: entry.outboxId, stored: rows.filter((row) => ids.has(row.id)) };
}
