import { Inject, Injectable, Optional } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { CONFIG } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';

/** The error for a request that exceeds a rate limit of its user. */
export class RateLimitError extends ServiceError {}

/** The part of a request that the rate limits depend on. */
export interface CountedRequest {
  method: string;
  /** Size of the body. Undefined if the client does not announce the size. */
  bodyBytes: number | undefined;
}

/** The remaining allowance of a user under one limit. */
interface Allowance {
  /** Number of requests or writes that the user may send now. Refills continuously, from empty to full within a second. */
  left: number;
  updatedAt: number;
}

const readMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
const maxUsers = 10_000;
// A request with a large body counts as several writes. A request with the largest body counts as 17.
const bytesPerWrite = 16 * 1024;
const maxBodyBytes = 256 * 1024;

/** Limits each user to `perSecond` requests or writes per second. */
class RateLimit {
  private readonly allowances = new Map<string, Allowance>();

  constructor(
    readonly name: string,
    readonly perSecond: number,
    private readonly now: () => number,
  ) {}

  /**
   * Deducts `count` requests or writes from the user's allowance. Returns the remaining allowance, which is negative if the request is
   * refused.
   */
  take(userId: string, count: number): number {
    // A large body may cost more than the whole limit. Cap its cost, so that the request can succeed.
    const cost = Math.min(count, this.perSecond);
    const now = this.now();
    const known = this.allowances.get(userId) ?? { left: this.perSecond, updatedAt: now };
    const refilled = known.left + ((now - known.updatedAt) / 1_000) * this.perSecond;
    const left = Math.min(refilled, this.perSecond) - cost;
    // A refused request costs nothing, so that a client that sends in a loop still gets as many responses as the limit permits.
    this.allowances.set(userId, { left: left < 0 ? left + cost : left, updatedAt: now });
    if (this.allowances.size > maxUsers) this.forgetFull(now);
    return left;
  }

  /** Removes the allowances of users who sent no request for a second. Such an allowance is full, like the allowance of a new user. */
  private forgetFull(now: number): void {
    for (const [userId, { updatedAt }] of this.allowances)
      if (now - updatedAt >= 1_000) this.allowances.delete(userId);
  }
}

/** The headers that report limits (draft-ietf-httpapi-ratelimit-headers-10). */
export type RateLimitHeaders = Record<'RateLimit-Policy' | 'RateLimit', string>;

/** Limits the requests of each user at this gateway. */
@Injectable()
export class RateLimits {
  private readonly requests: RateLimit;
  private readonly writes: RateLimit;

  constructor(
    @Inject(CONFIG) config: Pick<GatewayConfig, 'RATE_LIMIT_REQUESTS' | 'RATE_LIMIT_WRITES'>,
    @Optional() now: () => number = () => performance.now(),
  ) {
    this.requests = new RateLimit('default', config.RATE_LIMIT_REQUESTS, now);
    this.writes = new RateLimit('writes', config.RATE_LIMIT_WRITES, now);
  }

  /**
   * Counts a request of a user. A write counts as one, plus one for each full 16 KiB of its body. Passes the headers that report the limits
   * to `report`, even when it refuses the request.
   *
   * @throws RateLimitError when the request exceeds a limit
   */
  take(
    userId: string,
    { method, bodyBytes = maxBodyBytes }: CountedRequest,
    report: (headers: RateLimitHeaders) => void,
  ): void {
    const limits = readMethods.has(method) ? [this.requests] : [this.requests, this.writes];
    const taken = limits
      .filter(({ perSecond }) => perSecond > 0)
      .map((limit) => ({
        limit,
        left: limit.take(userId, limit === this.writes ? 1 + Math.floor(bodyBytes / bytesPerWrite) : 1),
      }));
    if (taken.length === 0) return;
    report({
      'RateLimit-Policy': taken.map(({ limit }) => `"${limit.name}";q=${limit.perSecond};w=1`).join(', '),
      RateLimit: taken
        .map(({ limit, left }) => `"${limit.name}";r=${Math.max(0, Math.floor(left))};t=1`)
        .join(', '),
    });
    const exceeded = taken.find(({ left }) => left < 0);
    if (exceeded)
      throw new RateLimitError(
        'too_many_requests',
        `You exceeded the limit of ${exceeded.limit.perSecond} ${exceeded.limit.name === 'writes' ? 'writes (a body counts as one more for each full 16 KiB)' : 'requests'} per second. Retry after the time in \`Retry-After\`.`,
        { retryAfterSeconds: 1 },
      );
  }
}
