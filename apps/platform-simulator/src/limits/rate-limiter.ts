import { Inject, Injectable } from '@nestjs/common';
import { PlatformLimits } from './platform-limits.js';
import { TokenBucket } from './token-bucket.js';

export interface RateLimitState {
  isExceeded: boolean;
  headers: RateLimitHeaders;
}

/** `Ratelimit-Limit`, `-Remaining`, and `-Reset` (Unix time in seconds at which the bucket is full again). */
export type RateLimitHeaders = Record<string, string>;

/** One token bucket per application, and one per application and user (docs/platform-facts.md §4.2). */
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
