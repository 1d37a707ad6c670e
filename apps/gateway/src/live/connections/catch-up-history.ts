import { pause } from '@stream-events/service';
import type { LimitedCaller } from '../../access/caller.js';
import type { ConcurrencyLimit } from '../../access/concurrency-limit.js';
import type { EventHistory, HistoryPage, Place } from '../stream/event-history.service.js';
import type { CatchUpLimits } from '../live-limits.js';

interface Turn {
  /** From then on, the turn ends if another catch-up of the user is waiting. */
  dueAt: number;
  end: () => void;
}

/** Reads older events for one connection. Each read requires one of the user's turns. */
export class CatchUpHistory {
  private turn: Promise<Turn> | undefined;
  /** Earliest time of the next read, to keep the permitted rate. */
  private dueAt = 0;
  /** Ends the turn if the client is slow to receive a page. */
  private idleTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly history: Pick<EventHistory, 'read'>,
    private readonly caller: LimitedCaller,
    private readonly turns: ConcurrencyLimit,
    private readonly limits: Pick<CatchUpLimits, 'turnMs' | 'messagesPerSecond'>,
  ) {}

  /**
   * Reads a page (see `EventHistory.read`), after waiting for a turn and for the permitted rate. A turn that is due ends before the next
   * read. A turn also ends when no further read follows within `turnMs`. The user's other connections can then read.
   */
  async read(place: Place, signal: AbortSignal): Promise<HistoryPage> {
    clearTimeout(this.idleTimer);
    if (this.turn && this.mustEnd(await this.turn)) this.rest();
    this.turn ??= this.beginTurn(signal);
    await this.turn;
    const waitMs = this.dueAt - performance.now();
    if (waitMs > 0) await pause(waitMs, signal);
    const page = await this.history.read(place, signal);
    this.dueAt = performance.now() + this.timeOf(place, page);
    if (!signal.aborted) this.idleTimer = setTimeout(() => this.rest(), this.limits.turnMs).unref();
    return page;
  }

  private mustEnd({ dueAt }: Turn): boolean {
    return performance.now() >= dueAt && this.turns.isAwaited(this.caller);
  }

  /** Returns how many milliseconds this page takes at the permitted rate. */
  private timeOf({ from }: Place, page: HistoryPage): number {
    const count = page.kind === 'events' ? page.next - from : 0;
    return (count / this.limits.messagesPerSecond) * 1_000;
  }

  /** Ends the turn. The connection calls this when it needs no older events for now. */
  rest(): void {
    const { turn } = this;
    clearTimeout(this.idleTimer);
    this.turn = undefined;
    turn?.then(
      ({ end }) => end(),
      () => undefined, // the turn never began
    );
  }

  private beginTurn(signal: AbortSignal): Promise<Turn> {
    const turn = this.turns
      .waitFor(this.caller, signal)
      .then((end) => ({ end, dueAt: performance.now() + this.limits.turnMs }));
    // The callers that await the turn handle its failure. This handler only lets the next read ask for a new turn.
    turn.catch(() => {
      if (this.turn === turn) this.turn = undefined;
    });
    return turn;
  }
}
