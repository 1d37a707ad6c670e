import { Injectable, Optional } from '@nestjs/common';
import { Gauge, Registry } from '@stream-events/service';
import { payersOf, shareOf, type Payer, type LimitedCaller } from '../../access/caller.js';
import { catchUpLimits, type CatchUpLimits } from '../live-limits.js';
import { UsageBoard } from './usage-board.js';

/** A connection's turn to read older events. */
export interface CatchUpTurn {
  /** Whether the turn has used its time and another connection of the user is waiting. */
  readonly isDue: boolean;
  end(): void;
}

interface Waiter {
  readonly payer: Payer;
  grant(): void;
}

// If clients of the user also wait at other gateways when a turn ends, this gateway waits 50 to 150 ms before it starts the user's next
// turn. In that time, another gateway can start one.
const courtesyMs = { min: 50, spread: 100 };

/**
 * Limits the number of concurrent catch-ups per user, and per named token, across all gateways. Further catch-ups wait in order of arrival.
 * The limit on live connections also bounds this queue. The catch-up limit is not exact: if two gateways begin catch-ups at the same
 * moment, or NATS is unavailable, each gateway can run the maximum.
 */
@Injectable()
export class CatchUps {
  private readonly waiting = new Map<string, Waiter[]>();
  /** Ids of users and tokens whose next turn this gateway leaves to other gateways for now (see `courtesyMs`). */
  private readonly courteous = new Set<string>();
  private readonly counts = { running: 0, waiting: 0 };

  constructor(
    private readonly board: UsageBoard,
    metrics: Registry,
    @Optional() readonly limits: CatchUpLimits = catchUpLimits,
  ) {
    board.listen((id) => this.grant(id));
    const { counts } = this;
    new Gauge({
      name: 'live_catch_ups',
      help: 'Live connections that read older events from the EVENTS stream, or wait for their turn to do so',
      labelNames: ['state'],
      registers: [metrics],
      collect() {
        this.set({ state: 'running' }, counts.running);
        this.set({ state: 'waiting' }, counts.waiting);
      },
    });
  }

  /**
   * Waits for a turn.
   *
   * @throws the signal's reason when the signal aborts
   */
  async begin(caller: LimitedCaller, signal: AbortSignal): Promise<CatchUpTurn> {
    signal.throwIfAborted();
    const payers = payersOf(caller);
    const held: string[] = [];
    const giveBack = (): void => {
      for (const id of held.splice(0)) this.endTurn(id);
    };
    this.counts.waiting += 1;
    try {
      // A catch-up waits for its token's turn first, so that it does not take a place in its user's queue meanwhile.
      for (const payer of payers) {
        await this.take(payer, signal);
        held.push(payer.id);
      }
    } catch (error) {
      giveBack();
      throw error;
    } finally {
      this.counts.waiting -= 1;
    }
    return this.startTurn(payers, giveBack);
  }

  private startTurn(payers: readonly Payer[], giveBack: () => void): CatchUpTurn {
    this.counts.running += 1;
    const dueAt = performance.now() + this.limits.turnMs;
    const isAwaited = (): boolean => payers.some(({ id }) => this.isAwaited(id));
    let isOver = false;
    return {
      get isDue() {
        return performance.now() >= dueAt && isAwaited();
      },
      end: () => {
        if (isOver) return;
        isOver = true;
        this.counts.running -= 1;
        giveBack();
      },
    };
  }

  private isAwaited(id: string): boolean {
    return this.waiting.has(id) || this.board.othersOf(id).waiting > 0;
  }

  /** Waits for one of the turns of a user or a token. */
  private async take(payer: Payer, signal: AbortSignal): Promise<void> {
    const { id } = payer;
    signal.throwIfAborted();
    if (!this.waiting.has(id) && this.hasRoom(payer)) {
      this.board.change(id, 'catchUps', 1);
      return;
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.leave(id, waiter);
        reject(signal.reason as Error); // Safe cast: the reasons of our signals are errors
      };
      const waiter: Waiter = {
        payer,
        grant: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal.addEventListener('abort', onAbort);
      this.waiting.set(id, [...(this.waiting.get(id) ?? []), waiter]);
      this.board.change(id, 'waiting', 1);
    });
  }

  private hasRoom(payer: Payer): boolean {
    const { id } = payer;
    const running = this.board.ownOf(id).catchUps + this.board.othersOf(id).catchUps;
    return running < shareOf(this.limits.perUser, payer) && !this.courteous.has(id);
  }

  private endTurn(id: string): void {
    const isAwaitedElsewhere = this.board.othersOf(id).waiting > 0;
    if (isAwaitedElsewhere) this.courteous.add(id);
    this.board.change(id, 'catchUps', -1);
    if (!isAwaitedElsewhere) return this.grant(id);
    const again = (): void => {
      this.courteous.delete(id);
      this.grant(id);
    };
    setTimeout(again, courtesyMs.min + Math.random() * courtesyMs.spread).unref();
  }

  private grant(id: string): void {
    for (const waiter of this.waiting.get(id) ?? []) {
      if (!this.hasRoom(waiter.payer)) return;
      this.leave(id, waiter);
      this.board.change(id, 'catchUps', 1);
      waiter.grant();
    }
  }

  private leave(id: string, waiter: Waiter): void {
    const others = this.waiting.get(id)?.filter((other) => other !== waiter) ?? [];
    if (others.length > 0) this.waiting.set(id, others);
    else this.waiting.delete(id);
    this.board.change(id, 'waiting', -1);
  }
}
