import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { writeBatch, type EventRow, type WrittenBatch } from './write-batch.js';

/** Writes events. */
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

  /**
   * Forgets messages that were received over 25 hours ago, some at a time; says how many. A dead letter that was
   * delivered again and stored is remembered while it is parked: its retry, however late, must not store it twice.
   */
  async forgetOldMessages(): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM received_messages WHERE key IN (
         SELECT key FROM received_messages AS received WHERE received_at < now() - interval '25 hours'
           AND NOT EXISTS (SELECT FROM dead_letters AS parked WHERE parked.key = received.key) LIMIT 10000)`,
    );
    return count;
  }
}
