/** The clock of `BatchPacing`. */
export interface BatchPacingOptions {
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}

/** Three batches keep the database busy even when one is slow; more would only queue there. */
const maxInFlight = 3;

/**
 * When a batch takes longer than this time, the next batch starts in parallel. A normal batch takes a third of this time. The
 * events that arrive during a normal batch form one batch instead of several small batches.
 */
const patienceMs = 10;

/**
 * Clients that just got a reply usually send again together. After a batch of at least 8 events, wait up to 4 ms for the same
 * number of events: a batch costs the gateway, NATS, the events service, and PostgreSQL the same, whether it contains 5 events
 * or 50.
 */
const lingerMs = 4;
const manyEvents = 8;

/**
 * Decides when to send the next batch. Makes batches fuller under load, and never delays a single event.
 *
 * ```
 *                     ┌─ the batch is full ────────────────────────────────▶ send (at most 3 in flight)
 *  events collect ────┤─ none in flight, the last batch was small ─────────▶ send
 *                     ├─ none in flight, as many events as the last batch ─▶ send
 *                     └─ 4 ms after the last reply, 10 ms after the last send ▶ send
 * ```
 */
export class BatchPacing {
  private inFlight = 0;
  private collectUntil = 0;
  private expected = 0;

  constructor(private readonly options: BatchPacingOptions) {}

  /**
   * Returns how many milliseconds to keep collecting: 0 means that the batch should be sent now, and Infinity means that the batch must
   * wait until another batch ends.
   */
  delay(waiting: { count: number; isFull: boolean }): number {
    if (this.inFlight >= maxInFlight) return Infinity;
    if (waiting.isFull || (this.inFlight === 0 && waiting.count >= this.expected)) return 0;
    return Math.max(0, this.collectUntil - this.options.now());
  }

  /** Records that a batch was sent. Each `begin` must be followed by an `end`. */
  begin(): void {
    this.inFlight += 1;
    this.collectUntil = this.options.now() + patienceMs;
  }

  /** Records that a batch of this many events got its reply or failed. */
  end(events: number): void {
    this.inFlight -= 1;
    if (this.inFlight > 0) return;
    const isMany = events >= manyEvents;
    this.expected = isMany ? events : 0;
    this.collectUntil = this.options.now() + (isMany ? lingerMs : 0);
  }
}
