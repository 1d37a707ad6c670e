import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { writeBatch, type EventRow, type WrittenBatch } from './write-batch.js';

/** Writes events and parked messages. */
@Injectable()
export class EventsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly pool: Pool,
  ) {}

  /** Writes a batch; see `writeBatch`. */
  write(rows: readonly EventRow[]): Promise<WrittenBatch> {
    return writeBatch(this.pool, rows);
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
