import { Injectable } from '@nestjs/common';
import { receivedAt } from '@stream-events/contracts';
import { DataSource, type EntityManager } from 'typeorm';
import type { EventRow } from './write-batch.js';

/** A period of a channel. Times are in milliseconds since 1970. */
export interface ChannelPeriod {
  channelId: string;
  from: number;
  to: number;
}

type Queries = Pick<EntityManager, 'query'>;

// An event is late if it is stored more than this time after it happened. A summary is saved at least a minute after the end of its stream,
// so it includes every event that is not late. The other half minute allows for clocks that differ.
const lateAfterMs = 30_000;

/**
 * Counts changes to the past of channels: events that are stored late, and erased events. A saved summary remembers the count, and
 * is outdated when the count differs.
 *
 * Read the count BEFORE the events, and note a change AFTER it is committed, or in the same transaction. Any change that a reader of the
 * events misses then raises the count after the reader has read the count.
 */
@Injectable()
export class ChannelChanges {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Notes the late events among these rows. Call this after the rows are committed. When a write is retried, call this again with the same
   * rows, because the first attempt may have failed between the commit and the call.
   */
  async noteLate(rows: readonly EventRow[]): Promise<void> {
    const latest = Date.now() - lateAfterMs;
    const late = rows.filter((row) => row.origin !== 'test' && timeOf(row) < latest);
    const days = new Map(late.flatMap(toDays).map((day) => [JSON.stringify(day), day]));
    // Notes the days in sorted order, so that two batches with common days do not deadlock.
    const sorted = [...days.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, day]) => day);
    if (sorted.length === 0) return;
    await this.dataSource.query(
      `INSERT INTO channel_changes (channel_id, day, changes)
       SELECT channel_id, day, 1 FROM unnest($1::text[], $2::date[]) AS change (channel_id, day)
       ON CONFLICT ON CONSTRAINT channel_changes_pkey DO UPDATE SET changes = channel_changes.changes + 1`,
      [sorted.map(([channelId]) => channelId), sorted.map(([, day]) => day)],
    );
  }

  /** Notes a change to all days of these channels; `'all'` means every channel. */
  async noteAll(channelIds: readonly string[] | 'all', queries: Queries): Promise<void> {
    const ids = channelIds === 'all' ? ['*'] : [...new Set(channelIds)].sort();
    await queries.query(
      `INSERT INTO channel_changes (channel_id, day, changes)
       SELECT channel_id, '-infinity', 1 FROM unnest($1::text[]) AS channel_id
       ON CONFLICT ON CONSTRAINT channel_changes_pkey DO UPDATE SET changes = channel_changes.changes + 1`,
      [ids],
    );
  }

  /** Returns the number of changes in a period of a channel. The number decreases only when `forget` removes days of the period. */
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

  /**
   * Deletes the counts for all days before the day of `before` (milliseconds since 1970). Retention has removed the events of these days.
   */
  async forget(before: number): Promise<void> {
    await this.dataSource.query(`DELETE FROM channel_changes WHERE day < $1::date AND day > '-infinity'`, [
      dayOf(before),
    ]);
  }
}

/** Returns the time when an event happened, or the time of its receipt if the platform did not report a time. */
function timeOf({ id, occurredAt }: EventRow): number {
  return occurredAt ?? receivedAt(id);
}

/** Returns one pair of channel id and day for each channel that the event concerns. */
function toDays(row: EventRow): (readonly [channelId: string, day: string])[] {
  const { broadcasterUserId, raidFromId, raidToId } = row.columns;
  const day = dayOf(timeOf(row));
  return [broadcasterUserId, raidFromId, raidToId].flatMap((channelId) =>
    channelId == null ? [] : [[channelId, day] as const],
  );
}

/** Returns the day in UTC, such as `2026-11-21`. Clamps times that no event can have. */
function dayOf(time: number): string {
  return new Date(Math.min(Math.max(time, 0), lastDay)).toISOString().slice(0, 10);
}

// Dates in later years need another notation, because these years have five digits.
const lastDay = Date.UTC(9999, 11, 31);
