import { Inject, Injectable } from '@nestjs/common';
import type { LookUpPriority } from '@stream-events/contracts';
import type { RateLimitReport } from '@stream-events/platforms';
import { FailureLog, LOGGER, readForGauge, Registry, type Logger } from '@stream-events/service';
import { DataSource, type EntityManager } from 'typeorm';
import { PLATFORM_SETTINGS, type PlatformSettings } from './platform-settings.js';
import { block, correct, isNews, newBucket, refill, take, type Bucket, type Taking } from './rate-budget.js';
import { connectorMetrics } from '../metrics.js';

interface BucketRow {
  callsPerMinute: number;
  remaining: number;
  countedAt: number;
  blockedUntil: number | null;
  isReported: boolean;
  now: number;
}

const toMs = (column: string): string => `floor(extract(epoch FROM ${column}) * 1000)::float`;
const columns = `calls_per_minute AS "callsPerMinute", remaining, is_reported AS "isReported",
  ${toMs('counted_at')} AS "countedAt", ${toMs('blocked_until')} AS "blockedUntil", ${toMs('clock_timestamp()')} AS now`;

// How long to keep an unused row. A bucket refills within a minute, so an older row holds no information.
const forgottenAfter = '1 day';

/**
 * Manages the rate budgets. The platform counts each user's calls separately, so there is one budget for the application and one for each
 * user whose token makes calls. All instances share one row per budget. An instance locks the row before a change, and uses the database's
 * clock.
 */
@Injectable()
export class RateBudgets {
  private readonly clientId: string;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(PLATFORM_SETTINGS) settings: PlatformSettings,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
  ) {
    const failureLog = new FailureLog(logger);
    this.clientId = settings.credentials?.clientId ?? '';
    const capacity = connectorMetrics.platform_connector_budget_capacity_calls.create(metrics);
    connectorMetrics.platform_connector_budget_calls.create(metrics, async (gauge) => {
      const bucket = await readForGauge(gauge, failureLog, () => this.read());
      gauge.set(bucket?.remaining ?? Number.NaN);
      capacity.set(bucket?.callsPerMinute ?? Number.NaN);
    });
  }

  /** Takes a call from the budget if one is available at this priority. */
  async take(priority: LookUpPriority, userId: string | null = null): Promise<Taking> {
    return this.dataSource.transaction(async (manager) => {
      const { bucket, now } = await this.lock(manager, userId);
      const taking = take(bucket, priority, now);
      if (taking.isTaken) await this.write(manager, userId, taking.bucket);
      return taking;
    });
  }

  /** Applies the platform's report after a call. `bucket` is the one that `take` returned for this call. */
  async correct(bucket: Bucket, report: RateLimitReport, userId: string | null = null): Promise<void> {
    if (!isNews(bucket, report)) return;
    await this.change(userId, (current, now) => correct(current, report, now));
  }

  /** Blocks the calls of all instances for `forMs` milliseconds, up to 2 min. */
  async block(forMs: number, userId: string | null = null): Promise<void> {
    await this.change(userId, (bucket, now) => block(bucket, forMs, now));
  }

  /** Returns the application's current budget, or null before the first call. */
  async read(): Promise<Bucket | null> {
    const [row] = await this.dataSource.query<BucketRow[]>(
      `SELECT ${columns} FROM rate_budgets WHERE client_id = $1 AND user_id = ''`,
      [this.clientId],
    );
    return row ? refill(row, row.now) : null;
  }

  private async change(userId: string | null, rule: (bucket: Bucket, now: number) => Bucket): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      const { bucket, now } = await this.lock(manager, userId);
      await this.write(manager, userId, rule(bucket, now));
    });
  }

  private async lock(
    manager: EntityManager,
    userId: string | null,
  ): Promise<{ bucket: Bucket; now: number }> {
    const select = `SELECT ${columns} FROM rate_budgets WHERE client_id = $1 AND user_id = $2 FOR UPDATE`;
    const key = [this.clientId, userId ?? ''];
    let [row] = await manager.query<BucketRow[]>(select, key);
    if (!row) {
      const { callsPerMinute, remaining } = newBucket(0);
      await manager.query(
        `DELETE FROM rate_budgets WHERE user_id <> '' AND counted_at < now() - interval '${forgottenAfter}'`,
      );
      await manager.query(
        `INSERT INTO rate_budgets (client_id, user_id, calls_per_minute, remaining, counted_at, is_reported)
         VALUES ($1, $2, $3, $4, clock_timestamp(), false) ON CONFLICT DO NOTHING`,
        [...key, callsPerMinute, remaining],
      );
      [row] = await manager.query<BucketRow[]>(select, key);
    }
    if (!row) throw new Error('the rate budget was deleted while it was being created');
    return { bucket: row, now: row.now };
  }

  private async write(manager: EntityManager, userId: string | null, bucket: Bucket): Promise<void> {
    await manager.query(
      `UPDATE rate_budgets SET calls_per_minute = $2, remaining = $3, is_reported = $6,
         counted_at = to_timestamp($4::float / 1000), blocked_until = to_timestamp($5::float / 1000)
       WHERE client_id = $1 AND user_id = $7`,
      [
        this.clientId,
        bucket.callsPerMinute,
        bucket.remaining,
        bucket.countedAt,
        bucket.blockedUntil,
        bucket.isReported,
        userId ?? '',
      ],
    );
  }
}
