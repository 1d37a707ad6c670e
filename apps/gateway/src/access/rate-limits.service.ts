import { Inject, Injectable, Optional } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { CONFIG } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';
import { payersOf, shareOf, type LimitedCaller } from './caller.js';

/** The request exceeds a rate limit of its user or its token. */
export class RateLimitError extends ServiceError {}

/** The properties of a request that rate limits depend on. */
export interface CountedRequest {
  method: string;
  /** Body size in bytes. Undefined if the client does not announce it. */
  bodyBytes: number | undefined;
}

/** The part of one rate limit that a user or a token has left. */
interface Allowance {
  /** Requests or writes that can be sent now. Refills continuously, from empty to full within a second. */
  left: number;
  updatedAt: number;
}

const readMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
const maxPayers = 10_000;
// Each full 16 KiB of a body counts as one more write: the largest body counts as 17.
const bytesPerWrite = 16 * 1024;
const maxBodyBytes = 256 * 1024;

/** Allows each user `perSecond` requests or writes per second, and each named token its share of them. */
class RateLimit {
  private readonly allowances = new Map<string, Allowance>();

  constructor(
    readonly name: string,
    readonly perSecond: number,
    private readonly now: () => number,
  ) {}

  /** What the caller can send now, and the maximum per second: the token's share or, without a named token, all of the limit. */
  read(caller: LimitedCaller): { available: number; perSecond: number } {
    const each = payersOf(caller).map((payer) => {
      const perSecond = shareOf(this.perSecond, payer);
      return { available: this.availableTo(payer.id, perSecond), perSecond };
    });
    return {
      available: Math.min(...each.map(({ available }) => available)),
      perSecond: Math.min(...each.map(({ perSecond }) => perSecond)),
    };
  }

  /** Counts a request, or several writes. */
  take(caller: LimitedCaller, cost: number): void {
    const now = this.now();
    for (const payer of payersOf(caller)) {
      const left = this.availableTo(payer.id, shareOf(this.perSecond, payer)) - cost;
      this.allowances.set(payer.id, { left, updatedAt: now });
    }
    if (this.allowances.size > maxPayers) this.forgetFull(now);
  }

  private availableTo(id: string, perSecond: number): number {
    const allowance = this.allowances.get(id);
    if (!allowance) return perSecond;
    const refilled = allowance.left + ((this.now() - allowance.updatedAt) / 1_000) * perSecond;
    return Math.min(refilled, perSecond);
  }

  /** Drops users and tokens without a request in the last second: their allowance is full again, as for a new user. */
  private forgetFull(now: number): void {
    for (const [id, { updatedAt }] of this.allowances)
      if (now - updatedAt >= 1_000) this.allowances.delete(id);
  }
}

/** Headers from draft-ietf-httpapi-ratelimit-headers-10. */
export type RateLimitHeaders = Record<'RateLimit-Policy' | 'RateLimit', string>;

/** Rate limits per user and per named token, at this gateway only. */
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
   * Counts a request. A write also counts toward the limit of writes: once, plus once for each full 16 KiB of its body. A refused request
   * does not count, so a client that sends in a loop still gets as many successful responses as the limits allow. Calls `report` with the
   * rate-limit headers before it returns or throws. Does not call `report` if no limit applies.
   *
   * @throws RateLimitError when the request exceeds a limit
   */
  take(
    caller: LimitedCaller,
    { method, bodyBytes = maxBodyBytes }: CountedRequest,
    report: (headers: RateLimitHeaders) => void,
  ): void {
    const limits = readMethods.has(method) ? [this.requests] : [this.requests, this.writes];
    const counts = limits
      .filter(({ perSecond }) => perSecond > 0)
      .map((limit) => {
        const count = limit === this.writes ? 1 + Math.floor(bodyBytes / bytesPerWrite) : 1;
        const { available, perSecond } = limit.read(caller);
        // Cap the cost at the whole limit. Under a small limit, a large body could otherwise never succeed.
        return { limit, available, perSecond, cost: Math.min(count, perSecond) };
      });
    if (counts.length === 0) return;
    const exceeded = counts.find(({ available, cost }) => available < cost);
    if (!exceeded) for (const { limit, cost } of counts) limit.take(caller, cost);
    const leftOf = ({ available, cost }: { available: number; cost: number }): number =>
      Math.floor(exceeded ? available : available - cost);
    report({
      'RateLimit-Policy': counts
        .map(({ limit, perSecond }) => `"${limit.name}";q=${perSecond};w=1`)
        .join(', '),
      RateLimit: counts.map((count) => `"${count.limit.name}";r=${leftOf(count)};t=1`).join(', '),
    });
    if (exceeded)
      throw new RateLimitError(
        'too_many_requests',
        `You exceeded the limit of ${exceeded.perSecond} ${exceeded.limit.name === 'writes' ? 'writes (a body counts as one more for each full 16 KiB)' : 'requests'} per second. Retry after the time in \`Retry-After\`.`,
        { retryAfterSeconds: 1 },
      );
  }
}
