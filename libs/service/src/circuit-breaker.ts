/** What a circuit breaker needs to know. */
export interface CircuitBreakerOptions {
  /** How many failures in a row open it; 1 unless given. */
  failuresToOpen?: number;
  /** How long nothing is tried when it opens (0), and after as many probes in a row have failed. */
  restMs: (failedProbes: number) => number;
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
}

/**
 * Keeps requests from a service that does not work, and finds out when it works again.
 *
 * ```
 *          failed too often            rest is over, begin()
 *  closed ─────────────────▶ open (rests) ───────────────────▶ half open (one probe)
 *    ▲                         ▲    │                            │         │
 *    │                         └────│───────── failed ───────────┘         │
 *    └────── succeeded ─────────────┴──────────────────────────  succeeded ─┘
 * ```
 *
 * Requests that began before it opened may still end: a success closes it, a failure makes it rest anew (as long as before:
 * only a failed probe says that the rest was too short). But a failure says nothing when another request has succeeded
 * since the failed one began: one instance of several may hang.
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

  /** Whether a request may begin now: any when it is closed, one when it has rested. */
  get permits(): boolean {
    if (this.state === 'closed') return true;
    return this.state === 'open' && this.options.now() >= this.restsUntil;
  }

  /** For how many milliseconds it still rests; 0 when it does not. */
  get restsForMs(): number {
    return this.state === 'closed' ? 0 : Math.max(0, this.restsUntil - this.options.now());
  }

  /** Notes that a request that was permitted begins, which must end in `succeed` or `fail`; says when that was. */
  begin(): number {
    if (this.state === 'open') this.state = 'half open';
    return this.options.now();
  }

  /** The service has answered. */
  succeed(): void {
    this.lastSuccessAt = this.options.now();
    this.failuresInRow = 0;
    this.failedProbes = 0;
    this.state = 'closed';
  }

  /** A request that began then was not answered: the service is not available, unless it has answered another one since. */
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
