import { Injectable, Optional } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { payersOf, shareOf, type Payer, type LimitedCaller } from '../../access/caller.js';
import { connectionLimits, type ConnectionLimits } from '../live-limits.js';
import { UsageBoard } from './usage-board.js';

/** A client that waits for a place. */
interface Waiter {
  readonly payer: Payer;
  grant(): void;
  refuse(error: ServiceError): void;
}

/**
 * Grants places for live connections. Each user, and each named token, has a limited number of places across all gateways:
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
    board.listen((id) => this.grant(id));
  }

  /**
   * Takes a place for a user and the token, and waits if none is free. Returns whether the client had to wait. Call `release` to give the
   * place back.
   *
   * @throws ServiceError `too_many_requests`; `unavailable` if the process has too many connections or is stopping
   */
  async take(caller: LimitedCaller): Promise<boolean> {
    if (this.taken >= this.limits.connections) throw fullGateway();
    this.taken += 1;
    const held: Payer[] = [];
    let hasWaited = false;
    try {
      for (const payer of payersOf(caller)) {
        if (await this.takeFor(payer)) hasWaited = true;
        held.push(payer);
      }
    } catch (error) {
      this.giveBack(held);
      throw error;
    }
    return hasWaited;
  }

  /** Returns whether the client had to wait. */
  private async takeFor(payer: Payer): Promise<boolean> {
    this.refuseIfStopped();
    const { id } = payer;
    const count = this.waiting.get(id)?.length ?? 0;
    if (this.board.ownOf(id).connections + count >= this.maxOf(payer)) throw this.tooMany(payer);
    const mustWait = count > 0 || !this.hasRoom(payer);
    if (mustWait) await this.untilGranted(payer);
    else this.occupy(id);
    return mustWait;
  }

  /** @throws ServiceError `unavailable` when the process stops */
  refuseIfStopped(): void {
    if (this.isStopped) throw stopping();
  }

  release(caller: LimitedCaller): void {
    this.giveBack(payersOf(caller));
  }

  private giveBack(held: readonly Payer[]): void {
    this.taken -= 1;
    for (const { id } of held) {
      this.board.change(id, 'connections', -1);
      this.grant(id);
    }
  }

  /** Refuses all waiting clients, and all new clients. */
  stop(): void {
    this.isStopped = true;
    for (const waiter of [...this.waiting.values()].flat()) waiter.refuse(stopping());
    this.waiting.clear();
  }

  /**
   * Returns how many connections this gateway must close, by user. Includes only users who were over the limit at the previous call too, so
   * that a short overlap closes nothing. Does not check the limits of tokens exactly, because their users have room left. If several
   * gateways serve the user, only the one with the highest id closes connections.
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

  private occupy(id: string): void {
    this.board.change(id, 'connections', 1);
  }

  private maxOf(payer: Payer): number {
    return shareOf(this.limits.perUser, payer);
  }

  private hasRoom(payer: Payer): boolean {
    const { id } = payer;
    return this.board.ownOf(id).connections + this.board.othersOf(id).connections < this.maxOf(payer);
  }

  private untilGranted(payer: Payer): Promise<void> {
    const { id } = payer;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.leave(id, waiter);
        waiter.refuse(this.tooMany(payer));
      }, this.limits.patienceMs);
      const waiter: Waiter = {
        payer,
        grant: () => {
          clearTimeout(timer);
          resolve();
        },
        refuse: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      this.waiting.set(id, [...(this.waiting.get(id) ?? []), waiter]);
    });
  }

  /** Grants free places to waiting clients in order of arrival. */
  private grant(id: string): void {
    for (const waiter of this.waiting.get(id) ?? []) {
      if (!this.hasRoom(waiter.payer)) return;
      this.leave(id, waiter);
      this.occupy(id);
      waiter.grant();
    }
  }

  private leave(id: string, waiter: Waiter): void {
    const others = this.waiting.get(id)?.filter((other) => other !== waiter) ?? [];
    if (others.length > 0) this.waiting.set(id, others);
    else this.waiting.delete(id);
  }

  private tooMany(payer: Payer): ServiceError {
    // Keep this text short: it must fit in the close frame of a WebSocket.
    return new ServiceError(
      'too_many_requests',
      `This ${payer.share < 1 ? 'token' : 'user'} has ${this.maxOf(payer)} live connections, the maximum for all gateways. Close one, or retry in 10 s.`,
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
