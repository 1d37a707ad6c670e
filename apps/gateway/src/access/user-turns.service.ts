import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { CONFIG } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';

// Enough for the rate that a user may have: a request takes a few milliseconds. The rest of the machine is left for others.
const runningPerUser = 4;

interface Turns {
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * Runs a few requests of each user at a time at this gateway. The user's other requests wait for their turn, so that a burst of one user
 * never delays the requests of others. Applies only if a limit of requests per second is configured.
 */
@Injectable()
export class UserTurns {
  private readonly users = new Map<string, Turns>();
  /** As many as the rate limit permits in a second. */
  private readonly maxWaiting: number;

  constructor(
    @Inject(CONFIG) { RATE_LIMIT_REQUESTS: perSecond }: Pick<GatewayConfig, 'RATE_LIMIT_REQUESTS'>,
  ) {
    this.maxWaiting = perSecond;
  }

  /**
   * Waits for a turn. The returned function ends it.
   *
   * @throws ServiceError `too_many_requests`
   */
  async begin(userId: string): Promise<() => void> {
    if (this.maxWaiting === 0) return () => undefined;
    const turns = this.users.get(userId) ?? { running: 0, waiting: [] };
    this.users.set(userId, turns);
    if (turns.running < runningPerUser) turns.running += 1;
    else await this.untilTurn(turns);
    return () => this.end(userId, turns);
  }

  private async untilTurn({ waiting }: Turns): Promise<void> {
    if (waiting.length >= this.maxWaiting)
      throw new ServiceError(
        'too_many_requests',
        `${this.maxWaiting} of your requests are waiting, the maximum. Retry after the time in \`Retry-After\`.`,
        { retryAfterSeconds: 1 },
      );
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  private end(userId: string, turns: Turns): void {
    const next = turns.waiting.shift();
    if (next) return next();
    turns.running -= 1;
    if (turns.running === 0) this.users.delete(userId);
  }
}
