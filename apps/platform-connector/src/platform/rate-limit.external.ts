import type { PlatformAnswer } from './platform-http.js';
import type { RateLimitReport } from './rate-budget.js';

// When the platform does not say when its bucket is full again: within a minute it always is.
const assumedResetMs = 60_000;

// Beyond this it is no limit, and no number that the database's column holds.
const mostCallsPerMinute = 1_000_000;

type Headers = PlatformAnswer['headers'];

/** The rate limit by the headers of an answer (docs/platform-facts.md §4.2); undefined when they do not say it. */
export function readRateLimit(headers: Headers): RateLimitReport | undefined {
  const callsPerMinute = readNumber(headers, 'ratelimit-limit');
  const remaining = readNumber(headers, 'ratelimit-remaining');
  if (callsPerMinute === undefined || remaining === undefined) return undefined;
  if (callsPerMinute === 0 || callsPerMinute > mostCallsPerMinute) return undefined;
  return { callsPerMinute, remaining: Math.min(remaining, callsPerMinute) };
}

/** In how many milliseconds calls are possible again. Both times are by the platform's clock, which may not be ours. */
export function readResetMs(headers: Headers): number {
  const reset = readNumber(headers, 'ratelimit-reset');
  if (reset === undefined) return assumedResetMs;
  const date = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
  return Math.max(0, reset * 1_000 - (Number.isNaN(date) ? Date.now() : date));
}

/** Whether a 429 is about the number of calls; with calls left it is about the number of subscriptions. */
export function isRateLimit({ status, headers }: PlatformAnswer): boolean {
  return status === 429 && (readNumber(headers, 'ratelimit-remaining') ?? 0) === 0;
}

function readNumber(headers: Headers, name: string): number | undefined {
  const text = headers[name];
  // Ten digits: seconds since 1970.
  return typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
