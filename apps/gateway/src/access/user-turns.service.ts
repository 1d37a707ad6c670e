import { Inject, Injectable, Optional } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { CONFIG } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';
import type { LimitedCaller } from './caller.js';
import { ConcurrencyLimit } from './concurrency-limit.js';

// Maximum concurrent requests per user. A request takes a few milliseconds, so four are enough for the allowed request rate. More would
// slow down other users.
const runningPerUser = 4;

// Maximum wait for a turn. Must be well below the 60 s after which the server closes a silent connection (`silenceLimitMs`).
const maxWaitMs = 10_000;

/**
 * Limits the concurrent requests per user, and per named token, at this gateway. Further requests wait for a turn, so that a burst from one
 * user does not delay other users, and a burst with a named token does not delay its user. Off if RATE_LIMIT_REQUESTS is 0.
 */
@Injectable()
export class UserTurns {
  private readonly limit = new ConcurrencyLimit(runningPerUser);
  /** Maximum waiting requests per user: as many as the rate limit allows in one second. */
  private readonly maxWaiting: number;

  constructor(
    @Inject(CONFIG) { RATE_LIMIT_REQUESTS: perSecond }: Pick<GatewayConfig, 'RATE_LIMIT_REQUESTS'>,
    @Optional() private readonly waitLimitMs: number = maxWaitMs,
  ) {
    this.maxWaiting = perSecond;
  }

  /**
   * Waits for a turn. Call the returned function when the request has ended. Calling it again has no effect.
   *
   * @throws ServiceError `too_many_requests` when too many requests of the user are waiting, or no turn became free within 10 s
   */
  async begin(caller: LimitedCaller): Promise<() => void> {
    if (this.maxWaiting === 0) return () => undefined;
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(this.noTurn()), this.waitLimitMs);
    try {
      return await this.limit.waitFor(caller, waiting.signal, {
        max: this.maxWaiting,
        refuse: tooManyWaiting,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  private noTurn(): ServiceError {
    return new ServiceError(
      'too_many_requests',
      `This request waited ${this.waitLimitMs / 1_000} s for your other requests, of which only a few run at a time. Retry after the time in \`Retry-After\`.`,
      { retryAfterSeconds: 1 },
    );
  }
}

function tooManyWaiting(_payer: string, max: number): ServiceError {
  return new ServiceError(
    'too_many_requests',
    `${max} of your requests are already waiting, which is the maximum. Retry after the time in \`Retry-After\`.`,
    { retryAfterSeconds: 1 },
  );
}
