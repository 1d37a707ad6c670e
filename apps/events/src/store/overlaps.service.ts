import { Inject, Injectable } from '@nestjs/common';
import type { EndingOverlap } from '@stream-events/contracts';
import { LOGGER, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { maxAgeMs, RecentValue } from './recent-value.js';
import type { EventRow } from './write-batch.js';
import { edgeMs, isPairable, type OverlapEnds } from './write-overlapping.js';
import { isPlatformRaid } from './match-raids.js';

// This long after an overlap begins, every instance knows it or will read it before its next write.
const announcementMs = maxAgeMs + 1_000;
// After a call that took longer than this, assume that the commit was slow.
const slowBeginMs = 1_000;
// How long to keep ended overlaps and unpaired deliveries. The store keeps message ids equally long, so it cannot recognize later
// redeliveries anyway.
const keptFor = '25 hours';

/** How to write the deliveries of subscriptions that have or had a twin. */
export interface OverlappingRows {
  /** Deliveries to pair. */
  paired: ReadonlySet<EventRow>;
  /**
   * Deliveries from after the end of an overlap, by the subscription that is about to be deleted. The store ignores them, because the
   * remaining subscription delivers the same occurrences.
   */
  superseded: ReadonlySet<EventRow>;
  /** The ends of overlaps, by subscription. */
  ends: ReadonlyMap<string, OverlapEnds>;
}

const none: OverlappingRows = { paired: new Set(), superseded: new Set(), ends: new Map() };

/** Times are in milliseconds since 1970. */
interface OverlapTimes extends OverlapEnds {
  subscription: string;
  keptSince: number;
}

/**
 * Keeps track of subscriptions that have a twin, so that the store pairs their deliveries (see `writeOverlapping`). Normally no
 * subscription has a twin. The check then costs one comparison per batch, and each instance queries an empty table once per second.
 *
 * ```
 *  begin ──▶ 4 s: every instance knows of it ─▶ ready: the second subscription may be created ──▶ end ──25 h──▶ forgotten
 * ```
 *
 * After the end, the store pairs only messages from before the end, or from at most `edgeMs` after the end (see `writeOverlapping`).
 * Messages from before the end may still wait on the INGEST stream or for a redelivery. The store keeps later messages of the remaining
 * subscription. The store ignores later messages of the other subscription. Such messages may arrive until the platform deletes that
 * subscription. Both rules start at the same moment. If they started at different moments, a delivery of the remaining subscription could
 * be paired with one whose own partner is missing. Once the next overlap has begun, deliveries from before and after the end of the
 * previous one are paired only within `edgeMs`.
 */
@Injectable()
export class Overlaps {
  /**
   * No message from more than `edgeMs` after this time (milliseconds since 1970) is paired. Infinity during an overlap; minus infinity
   * without overlaps.
   */
  private readonly latest: RecentValue<number>;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.latest = new RecentValue({
      name: 'the overlapping subscriptions',
      read: () => this.readLatest(),
      logger,
    });
  }

  /** Starts to read the overlaps every second. */
  start(): void {
    this.latest.start();
  }

  stop(): Promise<void> {
    return this.latest.stop();
  }

  /** Begins those overlaps that have not begun yet. Returns in how many milliseconds every instance knows all of them. */
  async begin(subscriptions: readonly string[]): Promise<number> {
    const beganAt = performance.now();
    const [row] = await this.dataSource.query<{ readyInMs: number }[]>(
      // Also update the rows of overlaps that have already begun, without changing them: only RETURNING sees what a concurrent call has
      // written.
      `WITH begun AS (
         INSERT INTO subscription_overlaps AS old (subscription) SELECT DISTINCT unnest($1::text[]) ORDER BY 1
         ON CONFLICT (subscription) DO UPDATE SET ended_at = NULL,
           begun_at = CASE WHEN old.ended_at IS NULL THEN old.begun_at ELSE now() END,
           previous_ended_at = CASE WHEN old.ended_at IS NULL THEN old.previous_ended_at ELSE LEAST(old.ended_at, now()) END,
           kept_since = CASE WHEN old.ended_at IS NULL THEN old.kept_since END
         RETURNING begun_at
       )
       SELECT ceil(extract(epoch FROM max(begun_at) - now()) * 1000 + $2)::float8 AS "readyInMs" FROM begun`,
      [subscriptions, announcementMs],
    );
    // The row's times are from the start of the statement. After a slow commit, other instances can see the row only from now on, so start
    // counting now.
    if (performance.now() > beganAt + slowBeginMs) return announcementMs;
    return Math.max(row?.readyInMs ?? announcementMs, 0);
  }

  /** Ends overlaps at `endedAt` (milliseconds since 1970). Leaves overlaps that have already ended unchanged. */
  async end(overlaps: readonly EndingOverlap[], endedAt: number): Promise<void> {
    await this.dataSource.query(
      `WITH ending AS (
         SELECT subscription, since FROM subscription_overlaps
         JOIN unnest($1::text[], $2::float8[]) AS input (subscription, since) USING (subscription)
         WHERE ended_at IS NULL ORDER BY subscription FOR UPDATE OF subscription_overlaps
       )
       UPDATE subscription_overlaps
       SET ended_at = to_timestamp($3::float8 / 1000), kept_since = to_timestamp(since / 1000)
       FROM ending WHERE subscription_overlaps.subscription = ending.subscription`,
      [overlaps.map(({ subscription }) => subscription), overlaps.map(({ keptSince }) => keptSince), endedAt],
    );
  }

  /**
   * Returns the rows that an overlap affects. Platform raids are left out, because `writeRaids` has its own rule for them.
   *
   * @throws the database's error when the overlaps cannot be read
   */
  async select(rows: readonly EventRow[]): Promise<OverlappingRows> {
    if ((await this.latest.get()) === -Infinity) return none;
    const candidates = rows.filter((row) => !isPlatformRaid(row)).filter(isPairable);
    if (candidates.length === 0) return none;
    const overlaps = await this.readTimes([
      ...new Set(candidates.map(({ delivery }) => delivery.subscription)),
    ]);
    const [paired, superseded] = [new Set<EventRow>(), new Set<EventRow>()];
    for (const row of candidates) {
      const times = overlaps.get(row.delivery.subscription);
      if (!times) continue;
      if (row.occurredAt > times.end && row.delivery.subscribedAt < times.keptSince) superseded.add(row);
      else if (row.occurredAt <= times.end + edgeMs) paired.add(row);
    }
    return { paired, superseded, ends: overlaps };
  }

  /** Deletes overlaps 25 hours after their end, and unpaired deliveries 25 hours after they were stored. */
  async forgetOld(): Promise<void> {
    // Use the earlier of two clocks, because a fast clock would delete rows that are still needed.
    const before = `least(now(), $1::timestamptz) - interval '${keptFor}'`;
    const now = [new Date(Date.now())];
    await this.dataSource.query(`DELETE FROM subscription_overlaps WHERE ended_at < ${before}`, now);
    await this.dataSource.query(`DELETE FROM unpaired_deliveries WHERE stored_at < ${before}`, now);
  }

  /** Reads the overlaps now. */
  refresh(): Promise<void> {
    return this.latest.refresh();
  }

  private async readLatest(): Promise<number> {
    const [row] = await this.dataSource.query<{ latest: number | null }[]>(
      `SELECT (extract(epoch FROM max(coalesce(ended_at, 'infinity'))) * 1000)::float8 AS latest FROM subscription_overlaps`,
    );
    return row?.latest ?? -Infinity;
  }

  private async readTimes(subscriptions: readonly string[]): Promise<Map<string, OverlapTimes>> {
    const rows = await this.dataSource.query<OverlapTimes[]>(
      `SELECT subscription, (extract(epoch FROM coalesce(ended_at, 'infinity')) * 1000)::float8 AS "end",
              (extract(epoch FROM coalesce(previous_ended_at, '-infinity')) * 1000)::float8 AS "previousEnd",
              (extract(epoch FROM coalesce(kept_since, '-infinity')) * 1000)::float8 AS "keptSince"
       FROM subscription_overlaps WHERE subscription = ANY($1::text[])`,
      [subscriptions],
    );
    return new Map(rows.map((row) => [row.subscription, row]));
  }
}
