export interface CircuitBreakerOptions {
  /** The number of consecutive failures that opens the circuit. The default is 1. */
  failuresToOpen?: number;
  /**
   * Returns how long the open circuit rests, in milliseconds. `failedProbes` counts the consecutive failed probes: 0 when the circuit has
   * just opened.
   */
  restMs: (failedProbes: number) => number;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}

/**
 * Stops requests to a failing service, and probes it until it works again.
 *
 * ```
 *          failed too often            rest is over, begin()
 *  closed ─────────────────▶ open (rests) ───────────────────▶ half open (one probe)
 *    ▲                         ▲    │                            │         │
 *    │                         └────│───────── failed ───────────┘         │
 *    └────── succeeded ─────────────┴──────────────────────────  succeeded ─┘
 * ```
 *
 * A request that began before the circuit opened can end while the circuit is open. If such a request succeeds, the circuit closes. If it
 * fails, the rest restarts with its current length; only a failed probe makes the rest longer. A failure is ignored if another request has
 * succeeded since the failed one began: perhaps only one of several instances hangs.
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

  /** Whether a request may begin now. A closed circuit permits every request; an open circuit permits one probe after its rest. */
  get permits(): boolean {
    if (this.state === 'closed') return true;
    return this.state === 'open' && this.options.now() >= this.restsUntil;
  }

  /** The remaining rest in milliseconds; 0 when the circuit does not rest. */
  get restsForMs(): number {
    return this.state === 'closed' ? 0 : Math.max(0, this.restsUntil - this.options.now());
  }

  /** Records the start of a permitted request, and returns its start time. Call `succeed` or `fail` when the request ends. */
  begin(): number {
    if (this.state === 'open') this.state = 'half open';
    return this.options.now();
  }

  succeed(): void {
    this.lastSuccessAt = this.options.now();
    this.failuresInRow = 0;
    this.failedProbes = 0;
    this.state = 'closed';
  }

  /** @param begunAt the time that `begin` returned for the failed request */
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
