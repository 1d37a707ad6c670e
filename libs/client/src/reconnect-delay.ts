/** Minimum wait before reconnecting. */
const minDelayMs = 250;
/** Maximum wait before reconnecting. */
export const maxDelayMs = 10_000;

// Maximum wait for `Retry-After`. A longer wait most likely comes from a proxy in front of the service, and an attempt every 5 minutes does
// no harm.
const maxRetryAfterMs = 300_000;

/**
 * Returns a random wait in milliseconds, between 250 ms and an upper bound, which doubles with each attempt up to 10 s. Clients that lost
 * their connections together then reconnect at different times.
 *
 * @param attempts lost or failed connections in a row, not counting the latest one. An event, or a connection that lasts more than 10 s,
 * starts the count again
 */
export function reconnectDelay(attempts: number, random: () => number = Math.random): number {
  const ceiling = Math.min(maxDelayMs, minDelayMs * 2 ** (attempts + 1));
  return minDelayMs + random() * (ceiling - minDelayMs);
}

/**
 * Returns the wait in a `Retry-After` header in milliseconds, at most five minutes (RFC 9110 §10.2.3: seconds or a date). Undefined if the
 * header is missing or invalid.
 */
export function parseRetryAfter(header: string | null, now = Date.now()): number | undefined {
  if (!header) return undefined;
  const delayMs = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  if (Number.isNaN(delayMs)) return undefined;
  return Math.min(Math.max(delayMs, 0), maxRetryAfterMs);
}
