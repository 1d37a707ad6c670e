import { Inject, Injectable } from '@nestjs/common';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import type { EventRow } from './write-batch.js';
import { isPairable } from './write-overlapping.js';
import { isPlatformRaid } from './write-raids.js';

const intervalMs = 1_000;
// Knowledge that is older than this is read again before the next write.
const maxAgeMs = 3_000;
// From this time after the beginning of an overlap, every instance knows it or reads it before its next write.
const announcementMs = maxAgeMs + 1_000;
// The end comes from our clock, and the time of a message from the platform's. An alarm reports larger differences.
const clockSlackMs = 5_000;
// As long as the store remembers message ids: after that, it cannot recognize any redelivery.
const keptFor = '25 hours';

/**
 * The subscriptions that have a twin. Deliveries of their messages are paired: see `writeOverlapping`. While there are none, which is
 * nearly always, a batch costs one comparison, and an instance one query of an empty table per second.
 *
 * ```
 *  begin ──▶ 4 s: every instance gets to know ──▶ ready: the second subscription may be created ──▶ end ──25 h──▶ forgotten
 * ```
 *
 * After the end, only messages from before the end are paired. They may still wait on the INGEST stream, or for a redelivery.
 */
@Injectable()
export class Overlaps {
  private readonly failureLog: FailureLog;
  /** Messages after this time need no pairing: infinite during an overlap. Milliseconds since 1970. */
  private latest = -Infinity;
  /** From a monotonic clock: when `latest` was requested. */
  private loadedAt = -Infinity;
  private loading: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.failureLog = new FailureLog(logger);
  }

  /** Looks for overlaps every second. */
  start(): void {
    this.timer = setInterval(() => {
      this.refresh().catch((err: unknown) => this.failureLog.warn('cannot read the overlaps', { err }));
    }, intervalMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    // The failure was already reported to the caller that waits for the overlaps.
    await this.loading?.catch(() => undefined);
  }

  /** Begins overlaps that have not begun yet. Returns in how many milliseconds all of them are known to every instance. */
  async begin(subscriptions: readonly string[]): Promise<number> {
    const [row] = await this.dataSource.query<{ readyInMs: number }[]>(
      `WITH begun AS (
         INSERT INTO subscription_overlaps (subscription) SELECT DISTINCT unnest($1::text[]) ORDER BY 1
         ON CONFLICT (subscription) DO UPDATE SET begun_at = now(), ended_at = NULL WHERE subscription_overlaps.ended_at IS NOT NULL
         RETURNING begun_at
       ), known AS (
         SELECT begun_at FROM begun
         UNION ALL SELECT begun_at FROM subscription_overlaps WHERE subscription = ANY($1::text[])
       )
       SELECT ceil(extract(epoch FROM max(begun_at) - now()) * 1000 + $2)::float8 AS "readyInMs" FROM known`,
      [subscriptions, announcementMs],
    );
    return Math.max(row?.readyInMs ?? announcementMs, 0);
  }

  /** Ends overlaps at a time in milliseconds since 1970. */
  async end(subscriptions: readonly string[], endedAt: number): Promise<void> {
    await this.dataSource.query(
      `UPDATE subscription_overlaps SET ended_at = to_timestamp($2::float8 / 1000)
       WHERE subscription IN (SELECT subscription FROM subscription_overlaps WHERE subscription = ANY($1::text[]) AND ended_at IS NULL
                              ORDER BY subscription FOR UPDATE)`,
      [subscriptions, endedAt],
    );
  }

  /**
   * Returns the rows that must be paired. Raids have a rule of their own: see `writeRaids`.
   *
   * @throws the database's error when the overlaps cannot be read
   */
  async select(rows: readonly EventRow[]): Promise<Set<EventRow>> {
    if (performance.now() > this.loadedAt + maxAgeMs) await this.refresh();
    const { latest } = this;
    if (latest === -Infinity) return new Set();
    const pairable = rows
      .filter(isPairable)
      .filter((row) => row.occurredAt <= latest + clockSlackMs && !isPlatformRaid(row));
    if (pairable.length === 0) return new Set();
    const ends = await this.readEnds([...new Set(pairable.map(({ delivery }) => delivery.subscription))]);
    return new Set(
      pairable.filter(({ delivery, occurredAt }) => {
        const end = ends.get(delivery.subscription);
        return end !== undefined && occurredAt <= end + clockSlackMs;
      }),
    );
  }

  /** Forgets overlaps, and events that were never paired, a day after their end. */
  async forgetOld(): Promise<void> {
    await this.dataSource.query(`DELETE FROM subscription_overlaps WHERE ended_at < now() - interval '${keptFor}'`);
    await this.dataSource.query(
      `DELETE FROM unpaired_deliveries WHERE stored_at < now() - interval '${keptFor}'`,
    );
  }

  /** Reads whether there are overlaps. */
  refresh(): Promise<void> {
    this.loading ??= this.read().finally(() => {
      this.loading = undefined;
    });
    return this.loading;
  }

  private async read(): Promise<void> {
    const requestedAt = performance.now();
    const [row] = await this.dataSource.query<{ latest: number | null }[]>(
      `SELECT (extract(epoch FROM max(coalesce(ended_at, 'infinity'))) * 1000)::float8 AS latest FROM subscription_overlaps`,
    );
    this.latest = row?.latest ?? -Infinity;
    this.loadedAt = requestedAt;
  }

  /** The ends of overlaps in milliseconds since 1970; infinite for overlaps that have not ended. */
  private async readEnds(subscriptions: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.dataSource.query<{ subscription: string; end: number }[]>(
      `SELECT subscription, (extract(epoch FROM coalesce(ended_at, 'infinity')) * 1000)::float8 AS "end"
       FROM subscription_overlaps WHERE subscription = ANY($1::text[])`,
      [subscriptions],
    );
    return new Map(rows.map(({ subscription, end }) => [subscription, end]));
  }
}
