import type { RateLimitReport, ReplyHead } from '../outbound-platform.js';

// How long to wait when Twitch does not send the reset time. The bucket refills completely within a minute.
const assumedResetMs = 60_000;

// A larger number cannot be a rate limit, and might overflow the database's integer column.
const maxCallsPerMinute = 1_000_000;

type Headers = ReplyHead['headers'];

/**
 * Reads the rate limit from a reply's headers (FACTS.md §4.2). Returns undefined when the headers do not report the rate
 * limit.
 */
export function readRateLimit({ headers }: ReplyHead): RateLimitReport | undefined {
  const callsPerMinute = readNumber(headers, 'ratelimit-limit');
  const remaining = readNumber(headers, 'ratelimit-remaining');
  if (callsPerMinute === undefined || remaining === undefined) return undefined;
  if (callsPerMinute === 0 || callsPerMinute > maxCallsPerMinute) return undefined;
  return { callsPerMinute, remaining: Math.min(remaining, callsPerMinute) };
}

/**
 * Returns how long to wait until Twitch accepts calls again, in milliseconds. Takes the reset time and, if there is a `date` header, the
 * current time from Twitch, because this machine's clock may differ.
 */
export function readResetMs({ headers }: ReplyHead): number {
  const reset = readNumber(headers, 'ratelimit-reset');
  if (reset === undefined) return assumedResetMs;
  const date = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
  return Math.max(0, reset * 1_000 - (Number.isNaN(date) ? Date.now() : date));
}

/** Whether Twitch rejected the call because of the rate limit. A 429 with calls left means too many subscriptions or conduits instead. */
export function isRateLimited({ status, headers }: ReplyHead): boolean {
  return status === 429 && (readNumber(headers, 'ratelimit-remaining') ?? 0) === 0;
}

function readNumber(headers: Headers, name: string): number | undefined {
  const text = headers[name];
  // Seconds since 1970 have ten digits.
  return typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
