import {
  derivedColumns,
  readEventColumns,
  type EventColumns,
  type EventWithColumns,
  type NewEvent,
} from '@stream-events/contracts';
import type { Pool } from 'pg';
import { encodeBigintArray, encodeTextArray, encodeUuidArray } from './binary-arrays.js';
import { receivedMessageKey } from './received-message-key.js';

/** A new event with its key and its filter columns, ready to be written. */
export interface EventRow extends NewEvent {
  key: string;
  columns: EventColumns;
  /** These two values are also in `columns`. The relay needs them for the subject. */
  broadcasterUserId: string | null;
  raidToId: string | null;
}

/** The result of a write: which rows are new, and the outbox row that represents them until they are published. */
export interface WrittenBatch {
  /** Null when nothing was new. */
  outboxId: string | null;
  stored: readonly EventRow[];
}

/**
 * Returns the row to write for an event. Uses the columns that the sender derived, or else derives them. The id of the row is in lower
 * case, as the database prints ids.
 */
export function toRow(event: EventWithColumns): EventRow {
  const id = event.id.toLowerCase();
  const columns = event.columns ?? readEventColumns(event.eventType, event.eventData);
  // Set field by field: object spread would cost more than all other work on an event here.
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
    delivery: event.delivery,
    columns,
    broadcasterUserId: columns.broadcasterUserId,
    raidToId: columns.raidToId,
  };
}

const recordColumns = ['event_id', 'event_type', 'event_source', 'origin', 'event_data'] as const;
const derivedNames = derivedColumns.map(({ name }) => name);
const textColumns = [...recordColumns, ...derivedNames];
const textParameters = textColumns.map((_, index) => `$${index + 3}::text[]`);
const occurredAtParameter = `$${textColumns.length + 3}::bigint[]`;

// The statement writes a batch in one commit. The insert into received_messages decides which events are new, the table events gets the new
// events, and one outbox row represents them.
const statement = `
  WITH input AS (
    SELECT * FROM unnest(
      $1::uuid[], $2::uuid[], ${textParameters.join(', ')}, ${occurredAtParameter}
    ) AS input (key, id, ${textColumns.join(', ')}, occurred_at)
  ), received AS (
    INSERT INTO received_messages (key, event_id)
    SELECT key, id FROM input ORDER BY key
    ON CONFLICT (key) DO NOTHING
    RETURNING key
  ), inserted AS (
    INSERT INTO events (id, ${textColumns.join(', ')}, occurred_at)
    SELECT
      id, event_id, event_type, event_source, origin, event_data::json, ${derivedNames.join(', ')},
      to_timestamp(occurred_at / 1000.0)
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
    -- Nearly always, every event is new. The list is then left out, because it would only cost time.
    CASE WHEN stored < cardinality($1::uuid[]) THEN ARRAY(SELECT id FROM inserted) END AS "storedIds"
  FROM entry`;

/**
 * Writes a batch in one statement, and in one commit unless `queries` is a transaction. Skips rows whose message was received
 * before.
 *
 * @param rows sorted by key and without repeated keys, so that two batches with common keys do not deadlock
 */
export async function writeBatch(
  queries: Pick<Pool, 'query'>,
  rows: readonly EventRow[],
): Promise<WrittenBatch> {
  const text = (column: (row: EventRow) => string | null): Buffer => encodeTextArray(rows.map(column));
  const { rows: written } = await queries.query<{ outboxId: string; storedIds: string[] | null }>({
    // Because the statement has a name, each connection plans it only once.
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
      ...derivedColumns.map(({ field }) => text((row) => row.columns[field])),
      encodeBigintArray(rows.map((row) => row.occurredAt ?? null)),
    ],
  });
  const [entry] = written;
  if (!entry) return { outboxId: null, stored: [] };
  if (!entry.storedIds) return { outboxId: entry.outboxId, stored: rows };
  const ids = new Set(entry.storedIds);
  return { outboxId: entry.outboxId, stored: rows.filter((row) => ids.has(row.id)) };
}
