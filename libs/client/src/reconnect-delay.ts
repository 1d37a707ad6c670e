/** The shortest and the longest wait before connecting again. */
const minDelayMs = 250;
export const maxDelayMs = 10_000;

// A service that says "in an hour" is most likely a proxy that knows nothing of ours: a look now and then does no harm.
const maxRetryAfterMs = 300_000;

/**
 * How long to wait before connecting again: 250 ms to 10 s, on average twice as long each time, and by chance, so that
 * clients that were cut together do not come back together.
 *
 * @param attempts how many have failed since the last that was of use
 */
export function reconnectDelay(attempts: number, random: () => number = Math.random): number {
  const ceiling = Math.min(maxDelayMs, minDelayMs * 2 ** (attempts + 1));
  return minDelayMs + random() * (ceiling - minDelayMs);
}

/**
 * The milliseconds that a `Retry-After` header asks for (RFC 9110 §10.2.3: seconds, or a date), five minutes at most;
 * undefined when it says nothing.
 */
export function parseRetryAfter(header: string | null, now = Date.now()): number | undefined {
  if (!header) return undefined;
  const delayMs = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  if (Number.isNaN(delayMs)) return undefined;
  return Math.min(Math.max(delayMs, 0), maxRetryAfterMs);
}
