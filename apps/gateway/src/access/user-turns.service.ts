import { Inject, Injectable, Optional } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { CONFIG } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';
import { payersOf, shareOf, type Payer, type LimitedCaller } from './caller.js';

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
 * Limits the concurrent requests per user, and per named token, at this gateway. Further requests wait for a turn, so that a burst from one
 * user does not delay other users, and a burst with a named token does not delay its user. Off if RATE_LIMIT_REQUESTS is 0.
 */
@Injectable()
export class UserTurns {
  private readonly turns = new Map<string, Turns>();
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
    const held: string[] = [];
    const end = (): void => {
      for (const id of held.splice(0)) this.end(id);
    };
    try {
      // A request waits for its token's turn first, so that it does not take a place in its user's queue meanwhile.
      for (const payer of payersOf(caller)) {
        await this.take(payer);
        held.push(payer.id);
      }
      return end;
    } catch (error) {
      end();
      throw error;
    }
  }

  private async take(payer: Payer): Promise<void> {
    const turns = this.turns.get(payer.id) ?? { running: 0, waiting: [] };
    this.turns.set(payer.id, turns);
    if (turns.running < shareOf(runningPerUser, payer)) turns.running += 1;
    else await this.untilTurn(turns, shareOf(this.maxWaiting, payer));
  }

  private async untilTurn({ waiting }: Turns, maxWaiting: number): Promise<void> {
    if (waiting.length >= maxWaiting)
      throw new ServiceError(
        'too_many_requests',
        `${maxWaiting} of your requests are already waiting, which is the maximum. Retry after the time in \`Retry-After\`.`,
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
      `This request waited ${this.waitLimitMs / 1_000} s for your other requests, of which only a few run at a time. Retry after the time in \`Retry-After\`.`,
      { retryAfterSeconds: 1 },
    );
  }

  private end(id: string): void {
    const turns = this.turns.get(id);
    const next = turns?.waiting.shift();
    if (!turns || next) return next?.();
    turns.running -= 1;
    if (turns.running === 0) this.turns.delete(id);
  }
}
