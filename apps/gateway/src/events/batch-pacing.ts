/** Decides when the next batch goes out. */
export interface BatchPacingOptions {
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
}

/** More batches in flight only wait at the database; three keep it busy while one of them is slow. */
const maxInFlight = 3;

/**
 * A batch that takes this long holds up nobody else: the next one goes out beside it. An ordinary one takes a third of
 * this, and what gathers meanwhile makes one batch instead of several small ones.
 */
const patienceMs = 10;

/**
 * Who was just answered often has more to say, and is not alone: after a batch of many, so many are waited for, this long
 * at most. Every batch costs four processes the same whether it holds five events or fifty.
 */
const lingerMs = 4;
const manyEvents = 8;

/**
 * Makes batches fuller when much arrives, and keeps a lone event from waiting.
 *
 * ```
 *                     ┌──────────────── full ────────────────▶ out (3 in flight at most)
 *  events gather ─────┤ none in flight, the last one was small ▶ out
 *                     ├ none in flight, as many as the last one ▶ out
 *                     └ 4 ms after the last answer, 10 ms after the last batch ▶ out
 * ```
 */
export class BatchPacing {
  private inFlight = 0;
  private gatherUntil = 0;
  private expected = 0;

  constructor(private readonly options: BatchPacingOptions) {}

  /** For how many milliseconds what waits should gather on: 0 is none, Infinity is until a batch is answered. */
  delay(waiting: { count: number; isFull: boolean }): number {
    if (this.inFlight >= maxInFlight) return Infinity;
    if (waiting.isFull || (this.inFlight === 0 && waiting.count >= this.expected)) return 0;
    return Math.max(0, this.gatherUntil - this.options.now());
  }

  /** A batch goes out; `end` must follow. */
  begin(): void {
    this.inFlight += 1;
    this.gatherUntil = this.options.now() + patienceMs;
  }

  /** A batch of so many events was answered, or given up. */
  end(events: number): void {
    this.inFlight -= 1;
    if (this.inFlight > 0) return;
    const isMany = events >= manyEvents;
    this.expected = isMany ? events : 0;
    this.gatherUntil = this.options.now() + (isMany ? lingerMs : 0);
  }
}
