import { Inject, Injectable, Optional } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { CONFIG } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';

// Maximum concurrent requests per user. A request takes a few milliseconds, so four are enough for the allowed request rate. More would
// slow down other users.
const runningPerUser = 4;

// Maximum wait for a turn. Must be well below the 60 s after which the server closes a silent connection (`silenceLimitMs`).
const maxWaitMs = 10_000;

interface Turns {
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * Limits the concurrent requests per user at this gateway. Further requests wait for a turn, so that a burst from one user does not delay
 * other users. Off if RATE_LIMIT_REQUESTS is 0.
 */
@Injectable()
export class UserTurns {
  private readonly users = new Map<string, Turns>();
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
