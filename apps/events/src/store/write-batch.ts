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

/** A new event that is ready to be written, with its key and filter columns. */
export interface EventRow extends NewEvent {
  key: string;
  columns: EventColumns;
  /** The relay needs these two values for the subject. `columns` also contains them. */
  broadcasterUserId: string | null;
  raidToId: string | null;
}

/** The result of a write: the new rows, and the outbox row that represents them until they are published. */
export interface WrittenBatch {
  /** Null when nothing was new. */
  outboxId: string | null;
  stored: readonly EventRow[];
}

/**
 * Returns the row to write for an event. Derives the columns if the sender did not send them. Lowercases the id, because the database
 * prints ids in lower case.
 */
export function toRow(event: EventWithColumns): EventRow {
  const id = event.id.toLowerCase();
  const columns = event.columns ?? readEventColumns(event.eventType, event.eventData);
  // List the fields: object spread would cost more than all other work on an event here.
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

// Writes a batch in one commit: the insert into received_messages decides which events are new, `events` gets these events, and one outbox
// row represents them.
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
    -- In nearly every batch, all events are new, so save the time for listing their ids.
    CASE WHEN stored < cardinality($1::uuid[]) THEN ARRAY(SELECT id FROM inserted) END AS "storedIds"
  FROM entry`;

/**
 * Writes a batch in one statement, which is its own transaction unless `queries` is one. Skips rows of messages that were received before.
 *
 * @param rows sorted by key and without repeated keys, so that batches with common keys cannot deadlock
 */
export async function writeBatch(
  queries: Pick<Pool, 'query'>,
  rows: readonly EventRow[],
): Promise<WrittenBatch> {
  const text = (column: (row: EventRow) => string | null): Buffer => encodeTextArray(rows.map(column));
  const { rows: written } = await queries.query<{ outboxId: string; storedIds: string[] | null }>({
    // A connection plans a named statement only once.
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
