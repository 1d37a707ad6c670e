import { Inject, Injectable } from '@nestjs/common';
import { PlatformLimits } from './platform-limits.js';
import { TokenBucket } from './token-bucket.js';

/** What one call has left of the rate limit. */
export interface RateLimitState {
  isExceeded: boolean;
  headers: RateLimitHeaders;
}

/** `Ratelimit-Limit`, `-Remaining` and `-Reset`: Unix seconds, when the bucket is full again. */
export type RateLimitHeaders = Record<string, string>;

/** One bucket for each application. */
@Injectable()
export class RateLimiter {
  private readonly buckets = new Map<string, TokenBucket>();

  constructor(@Inject(PlatformLimits) private readonly limits: PlatformLimits) {}

  /** Takes a point of an application that is known (there are few of them). */
  take(clientId: string, nowMs: number): RateLimitState {
    const bucket = this.bucketOf(clientId, nowMs);
    const isExceeded = !bucket.take(nowMs);
    return { isExceeded, headers: this.describe(bucket.remaining, bucket.fullAtMs) };
  }

  /** What a caller reads whom the platform does not know. */
  full(nowMs: number): RateLimitHeaders {
    return this.describe(this.limits.current.rate_limit, nowMs);
  }

  /** What a caller reads when the limit is said to be exceeded until then. */
  empty(untilMs: number): RateLimitHeaders {
    return this.describe(0, untilMs);
  }

  private bucketOf(clientId: string, nowMs: number): TokenBucket {
    const known = this.buckets.get(clientId);
    const { rate_limit } = this.limits.current;
    if (known?.capacity === rate_limit) return known;
    const bucket = new TokenBucket(rate_limit, nowMs); // a changed limit begins with a full bucket
    this.buckets.set(clientId, bucket);
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
