/** The shortest wait before the client reconnects. */
const minDelayMs = 250;
/** The longest wait before the client reconnects. */
export const maxDelayMs = 10_000;

// A `Retry-After` of an hour most likely comes from a proxy in front of the service. An attempt every 5 minutes does no harm.
const maxRetryAfterMs = 300_000;

/**
 * Returns how long to wait before reconnecting: 250 ms to 10 s. The upper bound doubles with each attempt. The wait is random,
 * so that clients that lost their connections together do not reconnect together.
 *
 * @param attempts failed attempts since the last connection that delivered anything
 */
export function reconnectDelay(attempts: number, random: () => number = Math.random): number {
  const ceiling = Math.min(maxDelayMs, minDelayMs * 2 ** (attempts + 1));
  return minDelayMs + random() * (ceiling - minDelayMs);
}

/**
 * Returns how many milliseconds a `Retry-After` header asks the client to wait (RFC 9110 §10.2.3: seconds or a date), at most five minutes.
 * Undefined without a valid header.
 */
export function parseRetryAfter(header: string | null, now = Date.now()): number | undefined {
  if (!header) return undefined;
  const delayMs = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  if (Number.isNaN(delayMs)) return undefined;
  return Math.min(Math.max(delayMs, 0), maxRetryAfterMs);
}
