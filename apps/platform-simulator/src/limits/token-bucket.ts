/**
 * The platform's rate limit: an empty bucket refills evenly within one minute (docs/platform-facts.md §4.2). Times are in milliseconds on
 * the caller's clock.
 */
export class TokenBucket {
  private points: number;

  constructor(
    readonly capacity: number,
    private lastMs: number,
  ) {
    this.points = capacity;
  }

  /** Returns false if the bucket has no point left. */
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

  /** When the bucket will be full, in milliseconds on the caller's clock. */
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
