/**
 * The platform's rate limit: a bucket of points that fills evenly, a full one in a minute
 * (docs/platform-facts.md §4.2). Knows no clock: it is told the time in milliseconds.
 */
export class TokenBucket {
  private points: number;

  constructor(
    readonly capacity: number,
    private lastMs: number,
  ) {
    this.points = capacity;
  }

  /** Takes a point, if there is one. */
  take(nowMs: number): boolean {
    this.fill(nowMs);
    if (this.points < 1) return false;
    this.points -= 1;
    return true;
  }

  /** Whole points that are left. */
  get remaining(): number {
    return Math.floor(this.points);
  }

  /** When the bucket will be full, in milliseconds. */
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
