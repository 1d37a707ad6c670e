import { Inject, Injectable, Optional } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { CONFIG } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';

// Four concurrent requests are enough for the request rate that a user may send, because a request takes a few milliseconds. More would
// take time from other users.
const runningPerUser = 4;

// How long a request waits for a turn. Much less than the 60 s after which the server closes a silent connection (`silenceLimitMs`).
const maxWaitMs = 10_000;

interface Turns {
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * Limits the number of concurrent requests per user at this gateway. Further requests of the user wait for a turn, so that a burst from one
 * user never delays the requests of other users. Has no effect if RATE_LIMIT_REQUESTS is 0.
 */
@Injectable()
export class UserTurns {
  private readonly users = new Map<string, Turns>();
  /** Maximum number of waiting requests per user: the number that the rate limit permits in one second. */
  private readonly maxWaiting: number;

  constructor(
    @Inject(CONFIG) { RATE_LIMIT_REQUESTS: perSecond }: Pick<GatewayConfig, 'RATE_LIMIT_REQUESTS'>,
    @Optional() private readonly waitLimitMs: number = maxWaitMs,
  ) {
    this.maxWaiting = perSecond;
  }

  /**
   * Waits for a turn. Call the returned function when the request has ended; further calls have no effect.
   *
   * @throws ServiceError `too_many_requests` when too many requests of the user are already waiting, or when no turn is free after 10 s
   */
  async begin(userId: string): Promise<() => void> {
    if (this.maxWaiting === 0) return () => undefined;
    const turns = this.users.get(userId) ?? { running: 0, waiting: [] };
    this.users.set(userId, turns);
    if (turns.running < runningPerUser) turns.running += 1;
    else await this.untilTurn(turns);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.end(userId, turns);
    };
  }

  private async untilTurn({ waiting }: Turns): Promise<void> {
    if (waiting.length >= this.maxWaiting)
      throw new ServiceError(
        'too_many_requests',
        `${this.maxWaiting} of your requests are already waiting, which is the maximum. Retry after the time in \`Retry-After\`.`,
        { retryAfterSeconds: 1 },
      );
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(this.noTurn());
      }, this.waitLimitMs);
      waiting.push(start);
    });
  }

  private noTurn(): ServiceError {
    return new ServiceError(
      'too_many_requests',
      `This request waited ${this.waitLimitMs / 1_000} s for your other requests, of which only ${runningPerUser} run at a time. Retry after the time in \`Retry-After\`.`,
      { retryAfterSeconds: 1 },
    );
  }

  private end(userId: string, turns: Turns): void {
    const next = turns.waiting.shift();
    if (next) return next();
    turns.running -= 1;
    if (turns.running === 0) this.users.delete(userId);
  }
}
