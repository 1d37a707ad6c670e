import type { TokenFailureLimits } from '../live-limits.js';

/** Failed token attempts from one address. */
interface Failures {
  count: number;
  lastAt: number;
  /** When each delay ends. */
  delays: number[];
}

/**
 * Slows down token guessing. Each failure from an address doubles the delay before the next failure is reported, up to a maximum. An
 * address with many concurrent delays (see `isOverLimit`) gets a new socket only for a handshake with a valid token. A client cannot
 * shorten its delay by disconnecting. Valid tokens are not delayed.
 */
export class TokenFailures {
  /** Sorted by the last failure, oldest first. */
  private readonly byAddress = new Map<string, Failures>();

  constructor(
    private readonly limits: TokenFailureLimits,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Whether an address has at least `limits.delaysPerAddress` concurrent delays. */
  isOverLimit(address: string): boolean {
    const now = this.now();
    const { delays = [] } = this.byAddress.get(address) ?? {};
    return delays.filter((endsAt) => endsAt > now).length >= this.limits.delaysPerAddress;
  }

  /** Counts a failure. Returns how many milliseconds the caller must wait before it closes the socket. The delay starts at `openedAt`. */
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

  /**
   * Removes and returns the failures of an address. Also evicts addresses whose last failure is too old, or that exceed `limits.addresses`.
   */
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
