import type { ServiceError } from '@stream-events/contracts';
import { payersOf, shareOf, type LimitedCaller, type Payer } from './caller.js';

/** Returns the error for a token or a user that has reached the maximum. */
export type Refuse = (payer: 'token' | 'user', max: number) => ServiceError;

/** Limits how many callers wait for one user's turns. A named token has its share of this limit too. */
export interface Queue {
  max: number;
  refuse: Refuse;
}

interface Turns {
  running: number;
  /** The functions that start the waiting turns. Callers wait only while all turns run. */
  readonly waiting: (() => void)[];
}

/**
 * Limits how many things each user, and each named token, does at a time at this gateway. A named token's turns also count toward the limit
 * of its user. `take` and `waitFor` return a function that ends the turn. Calling this function again has no effect.
 */
export class ConcurrencyLimit {
  /** Numbers of turns that run and of callers that wait, of all users. */
  readonly counts = { running: 0, waiting: 0 };
  private readonly turns = new Map<string, Turns>();

  constructor(private readonly perUser: number) {}

  /** Returns how many turns of a user, including those of the user's named tokens, run. */
  runningOf(userId: string): number {
    return this.turns.get(userId)?.running ?? 0;
  }

  /** Whether others wait for the turns of the caller's token or user. */
  isAwaited(caller: LimitedCaller): boolean {
    return payersOf(caller).some(({ id }) => (this.turns.get(id)?.waiting.length ?? 0) > 0);
  }

  /**
   * Takes a turn immediately.
   *
   * @throws the error from `refuse` if no turn is free
   */
  take(caller: LimitedCaller, refuse: Refuse): () => void {
    const payers = payersOf(caller);
    const full = payers.find((payer) => !this.hasRoom(payer));
    if (full) throw refuse(kindOf(full), shareOf(this.perUser, full));
    for (const { id } of payers) this.turnsOf(id).running += 1;
    return this.begin(payers);
  }

  /**
   * Waits for a turn, in order of arrival.
   *
   * @throws the signal's reason when the signal aborts; the error from `queue.refuse` if too many callers are waiting
   */
  async waitFor(caller: LimitedCaller, signal: AbortSignal, queue?: Queue): Promise<() => void> {
    const held: Payer[] = [];
    this.counts.waiting += 1;
    try {
      // Wait for a turn of the token first. A leaked token then takes no place in its user's queue meanwhile.
      for (const payer of payersOf(caller)) {
        signal.throwIfAborted();
        if (this.hasRoom(payer)) this.turnsOf(payer.id).running += 1;
        else await this.untilTurn(payer, signal, queue);
        held.push(payer);
      }
      return this.begin(held);
    } catch (error) {
      for (const { id } of held) this.end(id);
      throw error;
    } finally {
      this.counts.waiting -= 1;
    }
  }

  private begin(payers: readonly Payer[]): () => void {
    this.counts.running += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.counts.running -= 1;
      for (const { id } of payers) this.end(id);
    };
  }

  private hasRoom(payer: Payer): boolean {
    return this.runningOf(payer.id) < shareOf(this.perUser, payer);
  }

  private turnsOf(id: string): Turns {
    const turns = this.turns.get(id) ?? { running: 0, waiting: [] };
    this.turns.set(id, turns);
    return turns;
  }

  private async untilTurn(payer: Payer, signal: AbortSignal, queue: Queue | undefined): Promise<void> {
    const { waiting } = this.turnsOf(payer.id);
    if (queue && waiting.length >= shareOf(queue.max, payer))
      throw queue.refuse(kindOf(payer), shareOf(queue.max, payer));
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(signal.reason as Error); // Safe cast: the reasons of our signals are errors
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.push(start);
    });
  }

  /** Ends a turn. The turn goes to the caller that has waited longest. */
  private end(id: string): void {
    const turns = this.turnsOf(id);
    const next = turns.waiting.shift();
    if (next) return next();
    turns.running -= 1;
    if (turns.running === 0) this.turns.delete(id);
  }
}

function kindOf({ share }: Payer): 'token' | 'user' {
  return share < 1 ? 'token' : 'user';
}
