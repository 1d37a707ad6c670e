import { pause } from '@stream-events/service';
import type { Caller } from '../../access/caller.js';
import type { WorkBudgets } from '../../access/work-budgets.service.js';
import type { EventHistory, HistoryPage, Place } from '../stream/event-history.service.js';
import type { CatchUps, CatchUpTurn } from './catch-ups.js';

/** Reads older events for one connection, in the turns of its user. */
export class CatchUpHistory {
  private turn: Promise<CatchUpTurn> | undefined;
  /** When the next page may be read. */
  private dueAt = 0;

  constructor(
    private readonly history: Pick<EventHistory, 'read'>,
    private readonly catchUps: CatchUps,
    private readonly budgets: Pick<WorkBudgets, 'begin'>,
    private readonly caller: Pick<Caller, 'id' | 'role'>,
  ) {}

  /** Reads like `EventHistory.read`. Waits for a turn first, and gives the turn to others of the user when it has lasted long enough. */
  async read(place: Place, signal: AbortSignal): Promise<HistoryPage> {
    if (this.turn && (await this.turn).isDue) this.rest();
    this.turn ??= this.beginTurn(signal);
    await this.turn;
    const waitMs = this.dueAt - performance.now();
    if (waitMs > 0) await pause(waitMs, signal);
    const end = await this.budgets.begin(this.caller, signal);
    const page = await this.history.read(place, signal).finally(end);
    this.dueAt = performance.now() + this.timeOf(place, page);
    return page;
  }

  /** How long a page takes at the permitted rate, in milliseconds. */
  private timeOf({ from }: Place, page: HistoryPage): number {
    const count = page.kind === 'events' ? page.next - from : 0;
    return (count / this.catchUps.limits.messagesPerSecond) * 1_000;
  }

  /** Ends the turn: the connection needs no older events any more, or not soon. */
  rest(): void {
    const { turn } = this;
    this.turn = undefined;
    turn?.then(
      (begun) => begun.end(),
      () => undefined, // it never began
    );
  }

  private beginTurn(signal: AbortSignal): Promise<CatchUpTurn> {
    const turn = this.catchUps.begin(this.caller.id, signal);
    // The callers that await the turn get the failure; here, the next read only has to ask for a new turn.
    turn.catch(() => {
      if (this.turn === turn) this.turn = undefined;
    });
    return turn;
  }
}
