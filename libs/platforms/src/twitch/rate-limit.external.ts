import type { RateLimitReport, ReplyHead } from '../outbound-platform.js';

// Used when Twitch does not send the reset time. The bucket is always full again within a minute.
const assumedResetMs = 60_000;

// A larger number cannot be a rate limit, and might not fit into the database's integer column.
const maxCallsPerMinute = 1_000_000;

type Headers = ReplyHead['headers'];

/** Reads the rate limit from the headers of a reply (docs/platform-facts.md §4.2); undefined when they do not report it. */
export function readRateLimit({ headers }: ReplyHead): RateLimitReport | undefined {
  const callsPerMinute = readNumber(headers, 'ratelimit-limit');
  const remaining = readNumber(headers, 'ratelimit-remaining');
  if (callsPerMinute === undefined || remaining === undefined) return undefined;
  if (callsPerMinute === 0 || callsPerMinute > maxCallsPerMinute) return undefined;
  return { callsPerMinute, remaining: Math.min(remaining, callsPerMinute) };
}

/**
 * Returns the milliseconds until calls are possible again. Uses the platform's clock for both times, because this machine's clock may
 * differ.
 */
export function readResetMs({ headers }: ReplyHead): number {
  const reset = readNumber(headers, 'ratelimit-reset');
  if (reset === undefined) return assumedResetMs;
  const date = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
  return Math.max(0, reset * 1_000 - (Number.isNaN(date) ? Date.now() : date));
}

/** Whether a reply with status 429 means too many calls. If calls are left, the reply means too many subscriptions or conduits. */
export function isRateLimited({ status, headers }: ReplyHead): boolean {
  return status === 429 && (readNumber(headers, 'ratelimit-remaining') ?? 0) === 0;
}

function readNumber(headers: Headers, name: string): number | undefined {
  const text = headers[name];
  // Up to ten digits: seconds since 1970 have ten.
  return typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
