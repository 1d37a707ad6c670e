import type { LookUpPriority } from '@stream-events/contracts';
import type { RateLimitReport } from '@stream-events/platforms';

/** A token bucket as the platform keeps one for the application. Times are milliseconds of one clock. */
export interface Bucket {
  /** How many calls fit in, and how many come back in a minute. */
  callsPerMinute: number;
  /** How many calls were left at `countedAt`. */
  remaining: number;
  countedAt: number;
  /** Until when no call is made at all; null when none was refused. */
  blockedUntil: number | null;
  /** Whether the platform has said the limit. */
  isReported: boolean;
}

/** What became of asking for a call: it may go out, or after so many milliseconds it makes sense to ask again. */
export type Taking = { isTaken: true; bucket: Bucket } | { isTaken: false; waitMs: number };

// The platform's default for an application, until it says better.
const assumedCallsPerMinute = 800;

// What nobody waits for leaves this part of the bucket to those who do.
const interactiveShare = 0.1;

// The bucket is full again after a minute: a platform that names a later time has another clock, or errs.
const longestBlockMs = 120_000;

/** The bucket before the platform was asked for the first time. */
export function newBucket(now: number): Bucket {
  return {
    callsPerMinute: assumedCallsPerMinute,
    remaining: assumedCallsPerMinute,
    countedAt: now,
    blockedUntil: null,
    isReported: false,
  };
}

/** The bucket as it is now: what was taken comes back evenly within a minute. */
export function refill(bucket: Bucket, now: number): Bucket {
  const elapsedMs = Math.max(0, now - bucket.countedAt); // a clock may be set back
  const refilled = bucket.remaining + (bucket.callsPerMinute * elapsedMs) / 60_000;
  return {
    ...bucket,
    remaining: Math.min(bucket.callsPerMinute, refilled),
    countedAt: now,
    blockedUntil: bucket.blockedUntil !== null && bucket.blockedUntil > now ? bucket.blockedUntil : null,
  };
}

/** Takes one call out of the bucket, or says how long there is none for this priority. */
export function take(bucket: Bucket, priority: LookUpPriority, now: number): Taking {
  const current = refill(bucket, now);
  if (current.blockedUntil !== null) return { isTaken: false, waitMs: current.blockedUntil - now };
  const { callsPerMinute, remaining } = current;
  // At least one call must fit in, however small the platform makes the bucket.
  const reserved =
    priority === 'background' ? Math.min(callsPerMinute * interactiveShare, callsPerMinute - 1) : 0;
  const missing = reserved + 1 - remaining;
  if (missing > 0) return { isTaken: false, waitMs: Math.ceil((missing * 60_000) / callsPerMinute) };
  return { isTaken: true, bucket: { ...current, remaining: remaining - 1 } };
}

/**
 * Follows what the platform says is left, but never upwards: calls that are under way are counted here already, and there
 * not yet. What is too little comes back within a minute.
 */
export function correct(bucket: Bucket, report: RateLimitReport, now: number): Bucket {
  const remaining = Math.min(refill(bucket, now).remaining, report.remaining);
  return { ...refill(bucket, now), callsPerMinute: report.callsPerMinute, remaining, isReported: true };
}

/** Whether a report says anything that the bucket does not. */
export function isNews(bucket: Bucket, report: RateLimitReport): boolean {
  return (
    !bucket.isReported ||
    bucket.callsPerMinute !== report.callsPerMinute ||
    report.remaining < Math.floor(bucket.remaining)
  );
}

/** Stops all calls for so long, as the platform has refused one for their number. */
export function block(bucket: Bucket, forMs: number, now: number): Bucket {
  const until = now + Math.min(Math.max(forMs, 0), longestBlockMs);
  return { ...refill(bucket, now), remaining: 0, blockedUntil: Math.max(until, bucket.blockedUntil ?? 0) };
}
