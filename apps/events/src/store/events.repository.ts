import { Injectable } from '@nestjs/common';
import type { NewEvent } from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import { readEventColumns, type EventColumns } from './event-columns.js';
import { receivedMessageKey } from './received-message-key.js';

/** A new event with its key and its filter columns, ready to be written. */
export interface EventRow extends NewEvent, EventColumns {
  key: string;
}

/** What a write did: `storedIds` are new, and `outboxId` stands for them until they are published. */
export interface WrittenBatch {
  outboxId: string | null;
  storedIds: string[];
}

/** The row that an event becomes. Its id is in lower case, as the database prints it. */
export function toRow(received: NewEvent): EventRow {
  const event = { ...received, id: received.id.toLowerCase() };
  return { ...event, ...readEventColumns(event.eventType, event.eventData), key: receivedMessageKey(event) };
}

// One statement, one commit: received_messages decides what is new, events gets that, one outbox row stands for it.
const writeBatch = `
  WITH input AS (
    SELECT * FROM unnest(
      $1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
      $10::text[], $11::text[], $12::text[], $13::text[]
    ) AS input (
      key, id, event_id, event_type, event_source, origin, event_data, broadcaster_user_id, user_id,
      user_name, reward_id, raid_from, raid_to
    )
  ), received AS (
    INSERT INTO received_messages (key, event_id)
    SELECT key, id FROM input ORDER BY key
    ON CONFLICT (key) DO NOTHING
    RETURNING key
  ), inserted AS (
    INSERT INTO events (
      id, event_id, event_type, event_source, origin, event_data, broadcaster_user_id, user_id,
      user_name, reward_id, raid_from, raid_to
    )
    SELECT
      id, event_id, event_type, event_source, origin, event_data::json, broadcaster_user_id, user_id,
      user_name, reward_id, raid_from, raid_to
    FROM input JOIN received USING (key)
    ORDER BY id
    RETURNING id
  ), entry AS (
    INSERT INTO outbox (event_ids, claimed_until)
    SELECT array_agg(id), now() + interval '10 seconds' FROM inserted HAVING count(*) > 0
    RETURNING id
  )
  SELECT (SELECT id FROM entry) AS "outboxId", ARRAY(SELECT id FROM inserted) AS "storedIds"`;

/** Writes events and parked messages. */
@Injectable()
export class EventsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Writes a batch in one statement and one commit. Rows whose message was received before are left out.
   *
   * @param rows sorted by key, each key once: two batches with common keys must not deadlock
   */
  async write(rows: readonly EventRow[]): Promise<WrittenBatch> {
    const columns = [
      rows.map((row) => row.key),
      rows.map((row) => row.id),
      rows.map((row) => row.eventId),
      rows.map((row) => row.eventType),
      rows.map((row) => row.eventSource),
      rows.map((row) => row.origin),
      rows.map((row) => row.eventData),
      rows.map((row) => row.broadcasterUserId),
      rows.map((row) => row.userId),
      rows.map((row) => row.userName),
      rows.map((row) => row.rewardId),
      rows.map((row) => row.raidFrom),
      rows.map((row) => row.raidTo),
    ];
    const [written] = await this.dataSource.query<WrittenBatch[]>(writeBatch, columns);
    return written ?? { outboxId: null, storedIds: [] };
  }

  /** The events that these messages became, by key. */
  async findReceived(keys: readonly string[]): Promise<Map<string, string>> {
    if (keys.length === 0) return new Map();
    const rows = await this.dataSource.query<{ key: string; event_id: string }[]>(
      'SELECT key, event_id FROM received_messages WHERE key = ANY($1::uuid[])',
      [keys],
    );
    return new Map(rows.map((row) => [row.key, row.event_id]));
  }

  /** Keeps an event aside that the database refuses, and says under which id: the same message again has the first. */
  async park(row: EventRow, refusal: { sqlState: string; reason: string }): Promise<string> {
    const { id, eventId, eventType, eventSource, origin, eventData, idempotencyKey } = row;
    const message = JSON.stringify({
      id,
      eventId,
      eventType,
      eventSource,
      origin,
      eventData,
      idempotencyKey,
    });
    const [parked] = await this.dataSource.query<{ event_id: string }[]>(
      `INSERT INTO parked_messages (key, event_id, message, sql_state, reason) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING event_id`,
      [row.key, id, Buffer.from(message), refusal.sqlState, refusal.reason],
    );
    return parked?.event_id ?? id;
  }

  /** Forgets messages that were received over 25 hours ago, some at a time; says how many. */
  async forgetOldMessages(): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM received_messages WHERE key IN (
         SELECT key FROM received_messages WHERE received_at < now() - interval '25 hours' LIMIT 10000)`,
    );
    return count;
  }
}
