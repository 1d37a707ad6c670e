import type { LookUpPriority } from '@stream-events/contracts';
import type { RateLimitReport } from '@stream-events/platforms';

/**
 * The service's copy of the platform's token bucket for the application or a user. Times are milliseconds since 1970, by the database's
 * clock.
 */
export interface Bucket {
  /** The size of the bucket, and how many calls it regains per minute. */
  callsPerMinute: number;
  /** How many calls were left at `countedAt`. */
  remaining: number;
  countedAt: number;
  /** No call is allowed before this time, because the platform has rejected one. Null when calls are not blocked. */
  blockedUntil: number | null;
  /** Whether the platform has reported its limit. Until then, the bucket uses the platform's default. */
  isReported: boolean;
}

/** The bucket after a call was taken or, if none was available, how long to wait before trying again. */
export type Taking = { isTaken: true; bucket: Bucket } | { isTaken: false; waitMs: number };

// The platform's default limit for an application. Used until the platform reports the real one.
const assumedCallsPerMinute = 800;

// The share of the bucket that background calls leave to interactive calls.
const interactiveShare = 0.1;

// The maximum duration of a block. The platform's bucket refills within a minute, so a report of a much longer time means that the clocks
// differ.
const longestBlockMs = 120_000;

export function newBucket(now: number): Bucket {
  return {
    callsPerMinute: assumedCallsPerMinute,
    remaining: assumedCallsPerMinute,
    countedAt: now,
    blockedUntil: null,
    isReported: false,
  };
}

/** Returns the bucket as of `now`. It refills evenly, from empty to full in one minute. */
export function refill(bucket: Bucket, now: number): Bucket {
  const elapsedMs = Math.max(0, now - bucket.countedAt); // the clock may have been set back
  const refilled = bucket.remaining + (bucket.callsPerMinute * elapsedMs) / 60_000;
  return {
    ...bucket,
    remaining: Math.min(bucket.callsPerMinute, refilled),
    countedAt: now,
    blockedUntil: isBlocked(bucket, now) ? bucket.blockedUntil : null,
  };
}

/**
 * Whether calls are blocked. Ignores a block that ends later than the longest possible one: the database's clock was set back after it
 * began.
 */
function isBlocked({ blockedUntil }: Bucket, now: number): boolean {
  return blockedUntil !== null && now < blockedUntil && blockedUntil <= now + longestBlockMs;
}

/** Takes one call from the bucket, or returns how long a call of this priority must wait. */
export function take(bucket: Bucket, priority: LookUpPriority, now: number): Taking {
  const current = refill(bucket, now);
  if (current.blockedUntil !== null) return { isTaken: false, waitMs: current.blockedUntil - now };
  const { callsPerMinute, remaining } = current;
  // Leave at least one call for background calls, even in the smallest bucket.
  const reserved =
    priority === 'background' ? Math.min(callsPerMinute * interactiveShare, callsPerMinute - 1) : 0;
  const missing = reserved + 1 - remaining;
  if (missing > 0) return { isTaken: false, waitMs: Math.ceil((missing * 60_000) / callsPerMinute) };
  return { isTaken: true, bucket: { ...current, remaining: remaining - 1 } };
}

/**
 * Applies the platform's report, but never raises the number of calls left. This bucket already counts the calls in flight; the report does
 * not. If the number becomes too low, it recovers within a minute.
 */
export function correct(bucket: Bucket, report: RateLimitReport, now: number): Bucket {
  const remaining = Math.min(refill(bucket, now).remaining, report.remaining);
  return { ...refill(bucket, now), callsPerMinute: report.callsPerMinute, remaining, isReported: true };
}

/** Whether a report would change the bucket. */
export function isNews(bucket: Bucket, report: RateLimitReport): boolean {
  return (
    !bucket.isReported ||
    bucket.callsPerMinute !== report.callsPerMinute ||
    report.remaining < Math.floor(bucket.remaining)
  );
}

/** Blocks all calls for `forMs` milliseconds, up to 2 min, after the platform rejected a call because of its rate limit. */
export function block(bucket: Bucket, forMs: number, now: number): Bucket {
  const current = refill(bucket, now);
  const until = now + Math.min(Math.max(forMs, 0), longestBlockMs);
  return { ...current, remaining: 0, blockedUntil: Math.max(until, current.blockedUntil ?? 0) };
}
