/** What a circuit breaker needs to know. */
export interface CircuitBreakerOptions {
  /** How long nothing is tried after a failure. */
  restMs: number;
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
}

/**
 * Keeps requests from a service that does not work, and finds out when it works again.
 *
 * ```
 *             failed                   rest is over, begin()
 *  closed ─────────────▶ open (rests) ───────────────────────▶ half open (one probe)
 *    ▲                     ▲    │                                │         │
 *    │                     └────│───────────── failed ───────────┘         │
 *    └────── succeeded ─────────┴────────────────────────────── succeeded ─┘
 * ```
 *
 * Requests that began before it opened may still end: a success closes it, a failure makes it rest anew. But a failure
 * says nothing when another request has succeeded since the failed one began: one instance of several may hang.
 */
export class CircuitBreaker {
  private state: 'closed' | 'open' | 'half open' = 'closed';
  private restsUntil = 0;
  private lastSuccessAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: CircuitBreakerOptions) {}

  get isClosed(): boolean {
    return this.state === 'closed';
  }

  /** Whether a request may begin now: any when it is closed, one when it has rested. */
  get permits(): boolean {
    if (this.state === 'closed') return true;
    return this.state === 'open' && this.options.now() >= this.restsUntil;
  }

  /** Notes that a request that was permitted begins, which must end in `succeed` or `fail`; says when that was. */
  begin(): number {
    if (this.state === 'open') this.state = 'half open';
    return this.options.now();
  }

  /** The service has answered. */
  succeed(): void {
    this.lastSuccessAt = this.options.now();
    this.state = 'closed';
  }

  /** A request that began then was not answered: the service is not available, unless it has answered another one since. */
  fail(begunAt: number): void {
    if (this.lastSuccessAt > begunAt) return;
    this.state = 'open';
    this.restsUntil = this.options.now() + this.options.restMs;
  }
}
