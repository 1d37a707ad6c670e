import { Injectable, Optional } from '@nestjs/common';
import { Gauge, Registry } from '@stream-events/service';
import { catchUpLimits, type CatchUpLimits } from '../live-limits.js';
import { UsageBoard } from './usage-board.js';

/** A connection's turn to read older events. */
export interface CatchUpTurn {
  /** Whether the turn has used its time and another connection of the user is waiting. */
  readonly isDue: boolean;
  end(): void;
}

interface Waiter {
  grant(turn: CatchUpTurn): void;
}

// If clients of the user also wait at other gateways when a turn ends, this gateway waits 50 to 150 ms before it starts the user's next
// turn. In that time, another gateway can start one.
const courtesyMs = { min: 50, spread: 100 };

/**
 * Limits the number of concurrent catch-ups per user, across all gateways. Further catch-ups wait in order of arrival. The limit on live
 * connections also bounds this queue. The catch-up limit is not exact: if two gateways begin catch-ups at the same moment, or NATS is
 * unavailable, each gateway can run the maximum.
 */
@Injectable()
export class CatchUps {
  private readonly waiting = new Map<string, Waiter[]>();
  /** Ids of users whose next turn this gateway leaves to other gateways for now (see `courtesyMs`). */
  private readonly courteous = new Set<string>();

  constructor(
    private readonly board: UsageBoard,
    metrics: Registry,
    @Optional() readonly limits: CatchUpLimits = catchUpLimits,
  ) {
    board.listen((userId) => this.grant(userId));
    const count = (kind: 'catchUps' | 'waiting'): number =>
      board.ownUsers.reduce((sum, userId) => sum + board.ownOf(userId)[kind], 0);
    new Gauge({
      name: 'live_catch_ups',
      help: 'Live connections that read older events from the EVENTS stream, or wait for their turn to do so',
      labelNames: ['state'],
      registers: [metrics],
      collect() {
        this.set({ state: 'running' }, count('catchUps'));
        this.set({ state: 'waiting' }, count('waiting'));
      },
    });
  }

  /**
   * Waits for a turn.
   *
   * @throws the signal's reason when the signal aborts
   */
  async begin(userId: string, signal: AbortSignal): Promise<CatchUpTurn> {
    signal.throwIfAborted();
    if (!this.waiting.has(userId) && this.hasRoom(userId)) return this.startTurn(userId);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.leave(userId, waiter);
        reject(signal.reason as Error); // Safe cast: the reasons of our signals are errors
      };
      const waiter: Waiter = {
        grant: (turn) => {
          signal.removeEventListener('abort', onAbort);
          resolve(turn);
        },
      };
      signal.addEventListener('abort', onAbort);
      this.waiting.set(userId, [...(this.waiting.get(userId) ?? []), waiter]);
      this.board.change(userId, 'waiting', 1);
    });
  }

  private hasRoom(userId: string): boolean {
    const running = this.board.ownOf(userId).catchUps + this.board.othersOf(userId).catchUps;
    return running < this.limits.perUser && !this.courteous.has(userId);
  }

  private startTurn(userId: string): CatchUpTurn {
    this.board.change(userId, 'catchUps', 1);
    const dueAt = performance.now() + this.limits.turnMs;
    const isAwaited = (): boolean => this.waiting.has(userId) || this.board.othersOf(userId).waiting > 0;
    let isOver = false;
    return {
      get isDue() {
        return performance.now() >= dueAt && isAwaited();
      },
      end: () => {
        if (isOver) return;
        isOver = true;
        this.endTurn(userId);
      },
    };
  }

  private endTurn(userId: string): void {
    const isAwaitedElsewhere = this.board.othersOf(userId).waiting > 0;
    if (isAwaitedElsewhere) this.courteous.add(userId);
    this.board.change(userId, 'catchUps', -1);
    if (!isAwaitedElsewhere) return this.grant(userId);
    const again = (): void => {
      this.courteous.delete(userId);
      this.grant(userId);
    };
    setTimeout(again, courtesyMs.min + Math.random() * courtesyMs.spread).unref();
  }

  private grant(userId: string): void {
    for (const waiter of this.waiting.get(userId) ?? []) {
      if (!this.hasRoom(userId)) return;
      this.leave(userId, waiter);
      waiter.grant(this.startTurn(userId));
    }
  }

  private leave(userId: string, waiter: Waiter): void {
    const others = this.waiting.get(userId)?.filter((other) => other !== waiter) ?? [];
    if (others.length > 0) this.waiting.set(userId, others);
    else this.waiting.delete(userId);
    this.board.change(userId, 'waiting', -1);
  }
}
