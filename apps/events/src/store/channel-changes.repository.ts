import { Injectable } from '@nestjs/common';
import { receivedAt } from '@stream-events/contracts';
import { DataSource, type EntityManager } from 'typeorm';
import type { EventRow } from './write-batch.js';

/** A channel and a period, in milliseconds since 1970. */
export interface ChannelPeriod {
  channelId: string;
  from: number;
  to: number;
}

type Queries = Pick<EntityManager, 'query'>;

// An event is late when it is stored more than this long after it happened. Summaries are saved at least a minute after the end of their
// stream, so they include every event that is not late. The difference, half a minute, allows for clocks that differ.
const lateAfterMs = 30_000;

/**
 * Counts later changes to the past of channels: events that are stored late, and erased events. A saved summary includes the count and
 * becomes outdated when the count changes.
 *
 * Read the count BEFORE the events. Note a change AFTER its commit, or in the same transaction. A change that a reader of the events misses
 * then raises the count after the reader has read it.
 */
@Injectable()
export class ChannelChanges {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Notes the late events among these rows, once the rows are committed. Call it again when a write is retried, because the first attempt
   * may have failed between the commit and this call.
   */
  async noteLate(rows: readonly EventRow[]): Promise<void> {
    const latest = Date.now() - lateAfterMs;
    const late = rows.filter((row) => row.origin !== 'test' && timeOf(row) < latest);
    const days = new Map(late.flatMap(toDays).map((day) => [JSON.stringify(day), day]));
    // Sort the days, so that two batches with common days cannot deadlock.
    const sorted = [...days.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, day]) => day);
    if (sorted.length === 0) return;
    await this.dataSource.query(
      `INSERT INTO channel_changes (channel_id, day, changes)
       SELECT channel_id, day, 1 FROM unnest($1::text[], $2::date[]) AS change (channel_id, day)
       ON CONFLICT ON CONSTRAINT channel_changes_pkey DO UPDATE SET changes = channel_changes.changes + 1`,
      [sorted.map(([channelId]) => channelId), sorted.map(([, day]) => day)],
    );
  }

  /** Notes a change to all days of these channels, or of every channel. */
  async noteAll(channelIds: readonly string[] | 'all', queries: Queries): Promise<void> {
    const ids = channelIds === 'all' ? ['*'] : [...new Set(channelIds)].sort();
    await queries.query(
      `INSERT INTO channel_changes (channel_id, day, changes)
       SELECT channel_id, '-infinity', 1 FROM unnest($1::text[]) AS channel_id
       ON CONFLICT ON CONSTRAINT channel_changes_pkey DO UPDATE SET changes = channel_changes.changes + 1`,
      [ids],
    );
  }

  /** Returns the number of changes to a channel in a period. The number decreases only when `forget` removes days of the period. */
  async count(
    { channelId, from, to }: ChannelPeriod,
    queries: Queries = this.dataSource.manager,
  ): Promise<number> {
    const [row] = await queries.query<{ changes: number }[]>(
      `SELECT coalesce(sum(changes), 0)::float8 AS changes FROM channel_changes
       WHERE channel_id IN ($1, '*') AND (day = '-infinity' OR day BETWEEN $2::date AND $3::date)`,
      [channelId, dayOf(from), dayOf(to)],
    );
    return row?.changes ?? 0;
  }

  /** Deletes the counts of all days before the day of `before` (milliseconds since 1970), whose events retention has removed. */
  async forget(before: number): Promise<void> {
    await this.dataSource.query(`DELETE FROM channel_changes WHERE day < $1::date AND day > '-infinity'`, [
      dayOf(before),
    ]);
  }
}

/** Falls back to the time of receipt, because the platform may not report when the event happened. */
function timeOf({ id, occurredAt }: EventRow): number {
  return occurredAt ?? receivedAt(id);
}

/** Returns a pair of channel id and day for each channel that the event concerns. */
function toDays(row: EventRow): (readonly [channelId: string, day: string])[] {
  const { broadcasterUserId, raidFromId, raidToId } = row.columns;
  const day = dayOf(timeOf(row));
  return [broadcasterUserId, raidFromId, raidToId].flatMap((channelId) =>
    channelId == null ? [] : [[channelId, day] as const],
  );
}

/** Returns the day in UTC, such as `2026-11-21`. Clamps impossible times to the range of valid days. */
function dayOf(time: number): string {
  return new Date(Math.min(Math.max(time, 0), lastDay)).toISOString().slice(0, 10);
}

// Later years have five digits and need another notation.
const lastDay = Date.UTC(9999, 11, 31);
