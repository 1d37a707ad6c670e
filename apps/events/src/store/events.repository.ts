import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { ChannelChanges } from './channel-changes.repository.js';
import { ErasedUsers } from './erased-users.service.js';
import { isPlatformRaid } from './match-raids.js';
import { writeBatch, type EventRow, type WrittenBatch } from './write-batch.js';
import { writeRaids } from './write-raids.js';

/** Maximum number of keys that one call of `forgetOldMessages` deletes. */
export const maxForgotten = 10_000;

/** A part of a batch, and how to write it. */
export interface BatchPart {
  rows: readonly EventRow[];
  write: (pool: Pool, rows: readonly EventRow[]) => Promise<WrittenBatch>;
}

/** Writes events and looks up received messages. */
@Injectable()
export class EventsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly pool: Pool,
    private readonly changes: ChannelChanges,
    private readonly erasedUsers: ErasedUsers,
  ) {}

  /** Splits a batch by how its rows must be written: platform raids, and all others. Nearly every batch has only other rows. */
  split(rows: readonly EventRow[]): BatchPart[] {
    const parts: BatchPart[] = [
      { rows: rows.filter((row) => !isPlatformRaid(row)), write: writeBatch },
      {
        rows: rows.filter(isPlatformRaid),
        write: (pool: Pool, part: readonly EventRow[]) => writeRaids(pool, part.filter(isPlatformRaid)),
      },
    ];
    return parts.filter((part) => part.rows.length > 0);
  }

  /**
   * Writes a part of a batch and notes its late events (see `ChannelChanges`). For an event of an erased user, writes only the key, as if
   * the event had been stored and then erased.
   */
  async write({ rows, write }: BatchPart): Promise<WrittenBatch> {
    const others = await this.withoutErased(rows);
    if (others.length === 0) return { outboxId: null, stored: [] };
    const written = await write(this.pool, others);
    // Note known rows too: an earlier attempt may have stored their events and failed before this step.
    await this.changes.noteLate(others);
    return written;
  }

  /** Returns the rows without events of erased users, whose messages it marks as received. */
  async withoutErased(rows: readonly EventRow[]): Promise<readonly EventRow[]> {
    const erased = await this.erasedUsers.select(rows);
    if (erased.size === 0) return rows;
    await this.rememberReceived([...erased].map(({ key, id }) => ({ key, eventId: id })));
    return rows.filter((row) => !erased.has(row));
  }

  /** Marks messages as received without storing their events, so that the store recognizes redeliveries. */
  async rememberReceived(messages: readonly { key: string; eventId: string }[]): Promise<void> {
    // Insert in key order, like `writeBatch`, so that the two cannot deadlock.
    await this.dataSource.query(
      `INSERT INTO received_messages (key, event_id)
       SELECT key, event_id FROM unnest($1::uuid[], $2::uuid[]) AS message (key, event_id) ORDER BY key
       ON CONFLICT (key) DO NOTHING`,
      [messages.map(({ key }) => key), messages.map(({ eventId }) => eventId)],
    );
  }

  /** Returns the event id of each known message, by message key. */
  async findReceived(keys: readonly string[]): Promise<Map<string, string>> {
    if (keys.length === 0) return new Map();
    const rows = await this.dataSource.query<{ key: string; event_id: string }[]>(
      'SELECT key, event_id FROM received_messages WHERE key = ANY($1::uuid[])',
      [keys],
    );
    return new Map(rows.map((row) => [row.key, row.event_id]));
  }

  /** Deletes the reports of raids after an hour. The store treats a later message about such a raid as a new raid. */
  async forgetRaidReports(): Promise<void> {
    // Use the earlier of two clocks, because a fast clock would delete reports that are still needed.
    await this.dataSource.query(
      `DELETE FROM raid_reports WHERE reported_at < least(now(), $1::timestamptz) - interval '1 hour'`,
      [new Date(Date.now())],
    );
  }

  /**
   * Deletes up to `maxForgotten` keys of messages that were received over 25 hours ago. Returns how many it deleted. Keeps the key while a
   * dead letter has it, so that retrying the dead letter cannot store an already stored message again.
   */
  async forgetOldMessages(): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM received_messages WHERE key IN (
         SELECT key FROM received_messages AS received WHERE received_at < least(now(), $1::timestamptz) - interval '25 hours'
           AND NOT EXISTS (SELECT FROM dead_letters WHERE dead_letters.key = received.key)
         -- The order makes the planner use the index even when stale statistics show many old keys.
         ORDER BY received_at LIMIT ${maxForgotten})`,
      // Use the earlier of two clocks, because a fast clock would delete keys that are still needed.
      [new Date(Date.now())],
    );
    return count;
  }
}
