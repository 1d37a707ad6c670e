import { Inject, Injectable } from '@nestjs/common';
import { PlatformLimits } from './platform-limits.js';

/**
 * The platform's rate limit: an empty bucket refills evenly within one minute (FACTS.md §4.2). Times are in milliseconds on
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

export interface RateLimitState {
  isExceeded: boolean;
  headers: RateLimitHeaders;
}

/** `Ratelimit-Limit`, `-Remaining`, and `-Reset` (Unix time in seconds at which the bucket is full again). */
export type RateLimitHeaders = Record<string, string>;

/** One token bucket per application, and one per application and user (FACTS.md §4.2). */
@Injectable()
export class RateLimiter {
  private readonly buckets = new Map<string, TokenBucket>();

  constructor(@Inject(PlatformLimits) private readonly limits: PlatformLimits) {}

  /** Takes one point. Buckets are never removed, because the numbers of applications and users limit the number of buckets. */
  take(key: string, nowMs: number): RateLimitState {
    const bucket = this.bucketOf(key, nowMs);
    const isExceeded = !bucket.take(nowMs);
    return { isExceeded, headers: this.describe(bucket.remaining, bucket.fullAtMs) };
  }

  /** Headers of a full bucket, for a caller without valid credentials. */
  full(nowMs: number): RateLimitHeaders {
    return this.describe(this.limits.current.rate_limit, nowMs);
  }

  /** Headers of a simulated rate limit that lasts until `untilMs`. */
  empty(untilMs: number): RateLimitHeaders {
    return this.describe(0, untilMs);
  }

  private bucketOf(key: string, nowMs: number): TokenBucket {
    const known = this.buckets.get(key);
    const { rate_limit } = this.limits.current;
    if (known?.capacity === rate_limit) return known;
    const bucket = new TokenBucket(rate_limit, nowMs); // a new bucket is full; a changed limit also creates a new bucket
    this.buckets.set(key, bucket);
    return bucket;
  }

  private describe(remaining: number, resetMs: number): RateLimitHeaders {
    return {
      'Ratelimit-Limit': String(this.limits.current.rate_limit),
      'Ratelimit-Remaining': String(remaining),
      'Ratelimit-Reset': String(Math.ceil(resetMs / 1_000)),
    };
  }
}
