import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { writeBatch, type EventRow, type WrittenBatch } from './write-batch.js';

/** Writes events and looks up received messages. */
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

  /** Returns the ids of the events that these messages became, by message key. */
  async findReceived(keys: readonly string[]): Promise<Map<string, string>> {
    if (keys.length === 0) return new Map();
    const rows = await this.dataSource.query<{ key: string; event_id: string }[]>(
      'SELECT key, event_id FROM received_messages WHERE key = ANY($1::uuid[])',
      [keys],
    );
    return new Map(rows.map((row) => [row.key, row.event_id]));
  }

  /**
   * Deletes the keys of messages that were received over 25 hours ago, at most 10,000 at a time. Returns their number. Keeps the key of a dead letter whose message was redelivered and stored, because a later retry must not store the message twice.
   */
  async forgetOldMessages(): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM received_messages WHERE key IN (
         SELECT key FROM received_messages AS received WHERE received_at < now() - interval '25 hours'
           AND NOT EXISTS (SELECT FROM dead_letters WHERE dead_letters.key = received.key) LIMIT 10000)`,
    );
    return count;
  }
}
