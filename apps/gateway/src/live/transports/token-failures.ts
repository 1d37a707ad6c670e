import type { TokenFailureLimits } from '../live-limits.js';

/** The failures from one address. */
interface Failures {
  count: number;
  lastAt: number;
  /** The end times of the delays that are still running. */
  delays: number[];
}

/**
 * Slows down clients that send wrong tokens. Each failure from an address doubles the delay before the service reports the next failure.
 * The number of concurrent delays per address is limited, even if clients disconnect early. Valid tokens are not delayed.
 */
export class TokenFailures {
  /** By address, sorted by the time of the last failure. */
  private readonly byAddress = new Map<string, Failures>();

  constructor(
    private readonly limits: TokenFailureLimits,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Whether an address already has the maximum number of concurrent delays. */
  isOverLimit(address: string): boolean {
    const now = this.now();
    const { delays = [] } = this.byAddress.get(address) ?? {};
    return delays.filter((endsAt) => endsAt > now).length >= this.limits.delaysPerAddress;
  }

  /** Counts a failure on a socket that was opened at `openedAt`. Returns how long the socket must stay open, in milliseconds. */
  add(address: string, openedAt: number): number {
    const now = this.now();
    const failures = this.take(address, now);
    const { minDelayMs, maxDelayMs } = this.limits;
    const endsAt = openedAt + Math.min(minDelayMs * 2 ** failures.count, maxDelayMs);
    failures.count += 1;
    failures.lastAt = now;
    failures.delays.push(endsAt);
    this.byAddress.set(address, failures);
    return Math.max(endsAt - now, 0);
  }

  /** Removes the failures from an address and returns them. Also removes old failures from other addresses. */
  private take(address: string, now: number): Failures {
    const known = this.byAddress.get(address);
    this.byAddress.delete(address);
    const forgotten = now - this.limits.memoryMs;
    for (const [other, { lastAt }] of this.byAddress) {
      if (lastAt > forgotten && this.byAddress.size < this.limits.addresses) break;
      this.byAddress.delete(other);
    }
    if (!known || known.lastAt <= forgotten) return { count: 0, lastAt: now, delays: [] };
    return { ...known, delays: known.delays.filter((endsAt) => endsAt > now) };
  }
}
