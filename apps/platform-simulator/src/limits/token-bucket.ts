/**
 * The platform's rate limit: a token bucket that refills evenly within one minute (docs/platform-facts.md §4.2). The caller
 * passes the time in milliseconds.
 */
export class TokenBucket {
  private points: number;

  constructor(
    readonly capacity: number,
    private lastMs: number,
  ) {
    this.points = capacity;
  }

  /** Takes a point. Returns false when the bucket is empty. */
  take(nowMs: number): boolean {
    this.fill(nowMs);
    if (this.points < 1) return false;
    this.points -= 1;
    return true;
  }

  /** Remaining points, rounded down. */
  get remaining(): number {
    return Math.floor(this.points);
  }

  /** The time when the bucket will be full, in milliseconds on the caller's clock. */
  get fullAtMs(): number {
    return this.lastMs + (this.capacity - this.points) / this.perMs;
  }

  private get perMs(): number {
    return this.capacity / 60_000;
  }

  private fill(nowMs: number): void {
    this.points = Math.min(this.capacity, this.points + Math.max(0, nowMs - this.lastMs) * this.perMs);
    this.lastMs = nowMs;
  }
}
