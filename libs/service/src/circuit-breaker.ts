/** When a circuit breaker opens, and for how long. */
export interface CircuitBreakerOptions {
  /** The number of consecutive failures that opens the circuit; 1 by default. */
  failuresToOpen?: number;
  /**
   * Returns how long the circuit rests, in milliseconds, after `failedProbes` consecutive failed probes (0 when the circuit has just
   * opened).
   */
  restMs: (failedProbes: number) => number;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}

/**
 * Stops requests to a failing service, and probes whether the service works again.
 *
 * ```
 *          failed too often            rest is over, begin()
 *  closed ─────────────────▶ open (rests) ───────────────────▶ half open (one probe)
 *    ▲                         ▲    │                            │         │
 *    │                         └────│───────── failed ───────────┘         │
 *    └────── succeeded ─────────────┴──────────────────────────  succeeded ─┘
 * ```
 *
 * Requests that began before the circuit opened can end while it is open. If such a request succeeds, the circuit closes. If it fails, the
 * rest starts again with its current length, because only a failed probe shows that the rest was too short. A failure is ignored when
 * another request succeeded after the failed request began, because perhaps only one of several instances hangs.
 */
export class CircuitBreaker {
  private state: 'closed' | 'open' | 'half open' = 'closed';
  private failuresInRow = 0;
  private failedProbes = 0;
  private openedAt = 0;
  private restsUntil = 0;
  private lastSuccessAt = Number.NEGATIVE_INFINITY;
  private readonly failuresToOpen: number;

  constructor(private readonly options: CircuitBreakerOptions) {
    this.failuresToOpen = options.failuresToOpen ?? 1;
  }

  get isClosed(): boolean {
    return this.state === 'closed';
  }

  /**
   * Whether a request may begin now. A closed circuit permits any number of requests. An open circuit permits one request (the probe) after
   * its rest.
   */
  get permits(): boolean {
    if (this.state === 'closed') return true;
    return this.state === 'open' && this.options.now() >= this.restsUntil;
  }

  /** The remaining milliseconds of the rest; 0 when the circuit does not rest. */
  get restsForMs(): number {
    return this.state === 'closed' ? 0 : Math.max(0, this.restsUntil - this.options.now());
  }

  /** Records the start of a permitted request and returns the time by the clock `now`. The request must end with `succeed` or `fail`. */
  begin(): number {
    if (this.state === 'open') this.state = 'half open';
    return this.options.now();
  }

  /** Records that a request succeeded. */
  succeed(): void {
    this.lastSuccessAt = this.options.now();
    this.failuresInRow = 0;
    this.failedProbes = 0;
    this.state = 'closed';
  }

  /** Records that a request failed. @param begunAt the time that `begin` returned for the request */
  fail(begunAt: number): void {
    if (this.lastSuccessAt > begunAt) return;
    this.failuresInRow += 1;
    if (this.failuresInRow < this.failuresToOpen) return;
    const now = this.options.now();
    if (this.state === 'closed') this.openedAt = now;
    else if (begunAt > this.openedAt) this.failedProbes += 1;
    this.state = 'open';
    this.restsUntil = now + this.options.restMs(this.failedProbes);
  }
}
