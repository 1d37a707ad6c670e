import { pause } from '@stream-events/service';
import type { Caller } from '../../access/caller.js';
import type { WorkBudgets } from '../../access/work-budgets.service.js';
import type { EventHistory, HistoryPage, Place } from '../stream/event-history.service.js';
import type { CatchUps, CatchUpTurn } from './catch-ups.js';

/** Reads older events for one connection, while the connection has one of its user's turns (see `CatchUps`). */
export class CatchUpHistory {
  private turn: Promise<CatchUpTurn> | undefined;
  /** When the next page may be read. */
  private dueAt = 0;
  /** Ends the turn of a connection whose client takes long to receive a page. */
  private idleTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly history: Pick<EventHistory, 'read'>,
    private readonly catchUps: CatchUps,
    private readonly budgets: Pick<WorkBudgets, 'begin'>,
    private readonly caller: Pick<Caller, 'id' | 'role'>,
  ) {}

  /**
   * Waits for a turn and for the permitted rate, then reads a page (see `EventHistory.read`). If the current turn is due to end, first
   * ends this turn, so that the user's other connections can read. For the same reason, the turn ends when no further read follows within
   * the length of a turn.
   */
  async read(place: Place, signal: AbortSignal): Promise<HistoryPage> {
    clearTimeout(this.idleTimer);
    if (this.turn && (await this.turn).isDue) this.rest();
    this.turn ??= this.beginTurn(signal);
    await this.turn;
    const waitMs = this.dueAt - performance.now();
    if (waitMs > 0) await pause(waitMs, signal);
    const end = await this.budgets.begin(this.caller, signal);
    const page = await this.history.read(place, signal).finally(end);
    this.dueAt = performance.now() + this.timeOf(place, page);
    if (!signal.aborted) this.idleTimer = setTimeout(() => this.rest(), this.catchUps.limits.turnMs).unref();
    return page;
  }

  /** Returns how long a page takes at the permitted rate, in milliseconds. */
  private timeOf({ from }: Place, page: HistoryPage): number {
    const count = page.kind === 'events' ? page.next - from : 0;
    return (count / this.catchUps.limits.messagesPerSecond) * 1_000;
  }

  /** Ends the turn. The connection calls this method when it needs no further older events, or none soon. */
  rest(): void {
    const { turn } = this;
    clearTimeout(this.idleTimer);
    this.turn = undefined;
    turn?.then(
      (begun) => begun.end(),
      () => undefined, // the turn never began
    );
  }

  private beginTurn(signal: AbortSignal): Promise<CatchUpTurn> {
    const turn = this.catchUps.begin(this.caller.id, signal);
    // The callers that await the turn handle its failure. This handler only lets the next read ask for a new turn.
    turn.catch(() => {
      if (this.turn === turn) this.turn = undefined;
    });
    return turn;
  }
}
