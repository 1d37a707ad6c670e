export interface BatchPacingOptions {
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}

/** At most this many batches may be in flight. Three keep the database busy even when one is slow; more would only queue there. */
const maxInFlight = 3;

/**
 * Maximum time to wait for a batch in flight to end before another batch is sent in parallel. Most batches take a third of this time, so
 * the events that arrive during a batch form one batch instead of several small ones.
 */
const patienceMs = 10;

/**
 * How long to collect after a batch of at least 8 events (`manyEvents`), unless the same number of events arrives sooner. Clients that just
 * got a reply usually send again together. A batch of 50 events costs the gateway, NATS, the events service, and PostgreSQL about as much
 * as a batch of 5.
 */
const lingerMs = 4;
const manyEvents = 8;

/**
 * Decides when to send the next batch. Under load, delays events by a few milliseconds to fill batches. Without load, sends even a single
 * event immediately.
 *
 * ```
 *                     ┌─ the batch is full ────────────────────────────────▶ send (at most 3 in flight)
 *  events collect ────┤─ none in flight, the last batch was small ─────────▶ send
 *                     ├─ none in flight, as many events as the last batch ─▶ send
 *                     ├─ none in flight, 4 ms after the last reply ────────▶ send
 *                     └─ 1 or 2 in flight, 10 ms after the last send ──────▶ send
 * ```
 */
export class BatchPacing {
  private inFlight = 0;
  private collectUntil = 0;
  private expected = 0;

  constructor(private readonly options: BatchPacingOptions) {}

  /** Returns how many milliseconds to keep collecting. 0: send the batch now. Infinity: wait until a batch in flight ends. */
  delay(waiting: { count: number; isFull: boolean }): number {
    if (this.inFlight >= maxInFlight) return Infinity;
    if (waiting.isFull || (this.inFlight === 0 && waiting.count >= this.expected)) return 0;
    return Math.max(0, this.collectUntil - this.options.now());
  }

  /** Call this when a batch is sent, and `end` when that batch has ended. */
  begin(): void {
    this.inFlight += 1;
    this.collectUntil = this.options.now() + patienceMs;
  }

  /** Call this when the batch has its reply or has failed. @param events the number of events in the batch */
  end(events: number): void {
    this.inFlight -= 1;
    if (this.inFlight > 0) return;
    const isMany = events >= manyEvents;
    this.expected = isMany ? events : 0;
    this.collectUntil = this.options.now() + (isMany ? lingerMs : 0);
  }
}
