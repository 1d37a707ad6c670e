import type { TokenFailureLimits } from '../live-limits.js';

/** The failures of one address. */
interface Failures {
  count: number;
  lastAt: number;
  /** When the delays of its failures end, if they have not ended yet. */
  delays: number[];
}

/**
 * Makes a wrong token cost the client time. Each failure of an address doubles the delay before its next one is reported, and only
 * some delays may run at a time, whether or not the client waits for them. Valid tokens are not delayed.
 */
export class TokenFailures {
  /** By address; the one that failed last is last. */
  private readonly byAddress = new Map<string, Failures>();

  constructor(
    private readonly limits: TokenFailureLimits,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Whether an address has so many failures that it must wait. */
  isOverLimit(address: string): boolean {
    const now = this.now();
    const { delays = [] } = this.byAddress.get(address) ?? {};
    return delays.filter((endsAt) => endsAt > now).length >= this.limits.delaysPerAddress;
  }

  /** Counts a failure on a socket that was opened at a time. Returns how long the socket must stay open, in milliseconds. */
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

  /** Removes the failures of an address from the map, and forgets old ones. */
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
