import { pause } from '@stream-events/service';
import type { LimitedCaller } from '../../access/caller.js';
import type { EventHistory, HistoryPage, Place } from '../stream/event-history.service.js';
import type { CatchUps, CatchUpTurn } from './catch-ups.js';

/** Reads older events for one connection. Each read requires one of the user's turns (see `CatchUps`). */
export class CatchUpHistory {
  private turn: Promise<CatchUpTurn> | undefined;
  /** Earliest time of the next read, to keep the permitted rate. */
  private dueAt = 0;
  /** Ends the turn if the client is slow to receive a page. */
  private idleTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly history: Pick<EventHistory, 'read'>,
    private readonly catchUps: CatchUps,
    private readonly caller: LimitedCaller,
  ) {}

  /**
   * Reads a page (see `EventHistory.read`), after waiting for a turn and for the permitted rate. A turn that is due ends before the next
   * read. A turn also ends when no further read follows within `turnMs`. The user's other connections can then read.
   */
  async read(place: Place, signal: AbortSignal): Promise<HistoryPage> {
    clearTimeout(this.idleTimer);
    if (this.turn && (await this.turn).isDue) this.rest();
    this.turn ??= this.beginTurn(signal);
    await this.turn;
    const waitMs = this.dueAt - performance.now();
    if (waitMs > 0) await pause(waitMs, signal);
    const page = await this.history.read(place, signal);
    this.dueAt = performance.now() + this.timeOf(place, page);
    if (!signal.aborted) this.idleTimer = setTimeout(() => this.rest(), this.catchUps.limits.turnMs).unref();
    return page;
  }

  /** Returns how many milliseconds this page takes at the permitted rate. */
  private timeOf({ from }: Place, page: HistoryPage): number {
    const count = page.kind === 'events' ? page.next - from : 0;
    return (count / this.catchUps.limits.messagesPerSecond) * 1_000;
  }

  /** Ends the turn. The connection calls this when it needs no older events for now. */
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
    const turn = this.catchUps.begin(this.caller, signal);
    // The callers that await the turn handle its failure. This handler only lets the next read ask for a new turn.
    turn.catch(() => {
      if (this.turn === turn) this.turn = undefined;
    });
    return turn;
  }
}
