import { Injectable, Optional } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { connectionLimits, type ConnectionLimits } from '../live-limits.js';
import { UsageBoard } from './usage-board.js';

/** A client that waits for a place. */
interface Waiter {
  grant(): void;
  refuse(error: ServiceError): void;
}

/**
 * Grants places for live connections. Each user has a limited number of places across all gateways:
 *
 * ```
 *  this gateway is full, or has the user's maximum ─▶ refused
 *  all gateways together have the user's maximum ───▶ waits; refused after `patienceMs`
 *  otherwise ───────────────────────────────────────▶ granted
 * ```
 *
 * Waiting clients count toward both limits of this gateway. Clients wait because another gateway may have just stopped: its clients can
 * reconnect here before this gateway learns that their old connections have ended. If two gateways grant the last place at the same time,
 * `findExcess` reports the excess.
 */
@Injectable()
export class ConnectionPlaces {
  private readonly waiting = new Map<string, Waiter[]>();
  private excessBefore = new Set<string>();
  /** Places that clients hold or wait for. */
  private taken = 0;
  private isStopped = false;

  constructor(
    private readonly board: UsageBoard,
    @Optional() private readonly limits: ConnectionLimits = connectionLimits,
  ) {
    board.listen((userId) => this.grant(userId));
  }

  /**
   * Takes a place for a user, and waits if none is free. Returns whether the client had to wait. Call `release` to give the place back.
   *
   * @throws ServiceError `too_many_requests`; `unavailable` if the process has too many connections or is stopping
   */
  async take(userId: string): Promise<boolean> {
    this.refuseIfStopped();
    if (this.taken >= this.limits.connections) throw fullGateway();
    const count = this.waiting.get(userId)?.length ?? 0;
    if (this.board.ownOf(userId).connections + count >= this.limits.perUser) throw this.tooMany();
    const mustWait = count > 0 || !this.hasRoom(userId);
    this.taken += 1;
    if (mustWait) await this.untilGranted(userId);
    else this.occupy(userId);
    return mustWait;
  }

  /** @throws ServiceError `unavailable` when the process stops */
  refuseIfStopped(): void {
    if (this.isStopped) throw stopping();
  }

  release(userId: string): void {
    this.taken -= 1;
    this.board.change(userId, 'connections', -1);
    this.grant(userId);
  }

  /** Refuses all waiting clients, and all new clients. */
  stop(): void {
    this.isStopped = true;
    for (const waiter of [...this.waiting.values()].flat()) waiter.refuse(stopping());
    this.waiting.clear();
  }

  /**
   * Returns how many connections this gateway must close, by user. Includes only users who were over the limit at the previous call too, so
   * that a short overlap closes nothing. If several gateways serve the user, only the one with the highest id closes connections.
   */
  findExcess(): Map<string, number> {
    const excess = new Map<string, number>();
    const present = new Set<string>();
    for (const userId of this.board.ownUsers) {
      const own = this.board.ownOf(userId).connections;
      const count = own + this.board.othersOf(userId).connections - this.limits.perUser;
      if (count <= 0 || own === 0) continue;
      present.add(userId);
      if (this.excessBefore.has(userId) && this.board.isLastOf(userId))
        excess.set(userId, Math.min(count, own));
    }
    this.excessBefore = present;
    return excess;
  }

  private occupy(userId: string): void {
    this.board.change(userId, 'connections', 1);
  }

  private hasRoom(userId: string): boolean {
    const total = this.board.ownOf(userId).connections + this.board.othersOf(userId).connections;
    return total < this.limits.perUser;
  }

  private untilGranted(userId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.leave(userId, waiter);
        waiter.refuse(this.tooMany());
      }, this.limits.patienceMs);
      const waiter: Waiter = {
        grant: () => {
          clearTimeout(timer);
          resolve();
        },
        refuse: (error) => {
          clearTimeout(timer);
          this.taken -= 1;
          reject(error);
        },
      };
      this.waiting.set(userId, [...(this.waiting.get(userId) ?? []), waiter]);
    });
  }

  /** Grants free places to waiting clients in order of arrival. */
  private grant(userId: string): void {
    for (const waiter of this.waiting.get(userId) ?? []) {
      if (!this.hasRoom(userId)) return;
      this.leave(userId, waiter);
      this.occupy(userId);
      waiter.grant();
    }
  }

  private leave(userId: string, waiter: Waiter): void {
    const others = this.waiting.get(userId)?.filter((other) => other !== waiter) ?? [];
    if (others.length > 0) this.waiting.set(userId, others);
    else this.waiting.delete(userId);
  }

  private tooMany(): ServiceError {
    // Keep this text short: it must fit in the close frame of a WebSocket.
    return new ServiceError(
      'too_many_requests',
      `This user has ${this.limits.perUser} live connections, the maximum for all gateways. Close one, or retry in 10 s.`,
      { retryAfterSeconds: 10 },
    );
  }
}

function stopping(): ServiceError {
  return new ServiceError('unavailable', 'The service is restarting. Try again in a few seconds.');
}

function fullGateway(): ServiceError {
  return new ServiceError('unavailable', 'This gateway has too many live connections. Try again later.', {
    retryAfterSeconds: 10,
  });
}
