import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { pauseAfter } from './own-subscription.js';

/** A subscription that moves to the wanted transport. Times are milliseconds since 1970, by the database's clock. */
export interface SubscriptionMove {
  /** See `subscriptionKey`. */
  key: string;
  /** Whether all events services pair the deliveries of both subscriptions. */
  isReady: boolean;
  /** When the second subscription was first listed as enabled. */
  enabledAt: number | null;
  /** From this time, only the second subscription counts. Null until the time is announced. */
  endsAt: number | null;
  /** How many attempts in a row have failed to get an enabled second subscription. */
  attempts: number;
  /** The earliest time of the next attempt; null when it may run at any time. */
  retryAt: number | null;
  /** Why the move is stuck; null while it makes progress. */
  reason: string | null;
}

export interface MoveCounts {
  count: number;
  /** Why one of the stuck moves makes no progress. */
  reason: string | null;
}

export function newMove(key: string): SubscriptionMove {
  return { key, isReady: false, enabledAt: null, endsAt: null, attempts: 0, retryAt: null, reason: null };
}

/** Returns the move after its second subscription could not be created or enabled. The service retries later. */
export function failed(
  move: SubscriptionMove,
  { reason, now }: { reason: string; now: number },
): SubscriptionMove {
  const attempts = move.attempts + 1;
  return restarted({ ...move, attempts, retryAt: now + pauseAfter(attempts), reason });
}

/**
 * Returns the move after its second subscription was lost. The overlap must be announced again, because its end may already be announced.
 */
export function restarted(move: SubscriptionMove): SubscriptionMove {
  return { ...move, isReady: false, enabledAt: null, endsAt: null };
}

@Injectable()
export class SubscriptionMoves {
  constructor(private readonly dataSource: DataSource) {}

  async all(): Promise<SubscriptionMove[]> {
    return this.dataSource.query<SubscriptionMove[]>(
      `SELECT key, is_ready AS "isReady", attempts, reason,
              floor(extract(epoch FROM enabled_at) * 1000)::float AS "enabledAt",
              floor(extract(epoch FROM ends_at) * 1000)::float AS "endsAt",
              floor(extract(epoch FROM retry_at) * 1000)::float AS "retryAt"
       FROM subscription_moves ORDER BY key`,
    );
  }

  async save(moves: readonly SubscriptionMove[]): Promise<void> {
    if (moves.length === 0) return;
    await this.dataSource.query(
      `INSERT INTO subscription_moves (key, is_ready, enabled_at, ends_at, attempts, retry_at, reason)
       SELECT key, is_ready, to_timestamp(enabled_at / 1000), to_timestamp(ends_at / 1000), attempts, to_timestamp(retry_at / 1000), reason
       FROM unnest($1::text[], $2::boolean[], $3::float[], $4::float[], $5::int[], $6::float[], $7::text[])
         AS input (key, is_ready, enabled_at, ends_at, attempts, retry_at, reason)
       ON CONFLICT (key) DO UPDATE SET is_ready = excluded.is_ready, enabled_at = excluded.enabled_at, ends_at = excluded.ends_at,
         attempts = excluded.attempts, retry_at = excluded.retry_at, reason = excluded.reason`,
      [
        moves.map(({ key }) => key),
        moves.map(({ isReady }) => isReady),
        moves.map(({ enabledAt }) => enabledAt),
        moves.map(({ endsAt }) => endsAt),
        moves.map(({ attempts }) => attempts),
        moves.map(({ retryAt }) => retryAt),
        moves.map(({ reason }) => reason),
      ],
    );
  }

  async remove(keys: readonly string[]): Promise<void> {
    await this.dataSource.query('DELETE FROM subscription_moves WHERE key = ANY($1::text[])', [keys]);
  }

  async count(): Promise<MoveCounts> {
    const [counts] = await this.dataSource.query<MoveCounts[]>(
      'SELECT count(*)::int AS count, min(reason) AS reason FROM subscription_moves',
    );
    return counts ?? { count: 0, reason: null };
  }
}
