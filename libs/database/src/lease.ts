/**
 * Generates the SQL of a lease that is stored in two columns of a row: the holder, and the end of the lease by the database's
 * clock. While an instance holds the lease, no other instance does the work that belongs to the row.
 *
 * ```
 *          take                          renewed, every quarter of its time
 *  free ─────────▶ held by one instance ◀──┐
 *   ▲                │    │    └───────────┘
 *   ├── released ────┘    │
 *   └── expired ──────────┘ not renewed in time: the holder has died, or cannot reach the database
 * ```
 *
 * An expired lease belongs to its holder until another instance takes the lease. Until then, the holder can still renew it.
 *
 * Put these SQL fragments into the app's own statements, so that the lease changes together with the row. Every statement that
 * the holder runs on the row must have the condition `isHeldBy`. Such a statement changes nothing once another instance holds
 * the lease.
 */
export class LeaseColumns {
  constructor(
    private readonly names: { holder: string; until: string },
    /** How long the lease lasts after each renewal. Must be the same number in every version: see `isExpired`. */
    readonly seconds: number,
  ) {}

  /** Assignments that give the lease to a holder. @param holder the parameter with its UUID, such as `$1` */
  take(holder: string): string {
    return `${this.names.holder} = ${holder}::uuid, ${this.renewal}`;
  }

  /** Assignment that renews the lease. */
  get renewal(): string {
    return `${this.names.until} = ${this.end}`;
  }

  /** The end of a lease that is taken or renewed now: the value for an INSERT. */
  get end(): string {
    return `now() + interval '${this.seconds} seconds'`;
  }

  /** Assignment that releases the lease, so that any instance can take the lease immediately. */
  get release(): string {
    return `${this.names.until} = now()`;
  }

  /** Condition: the lease belongs to this holder. @param holder the parameter with its UUID, such as `$1` */
  isHeldBy(holder: string): string {
    return `${this.names.holder} = ${holder}::uuid`;
  }

  /**
   * Condition: the holder has not renewed the lease in time. A lease also counts as expired when its end is further away than its length.
   * The database's clock was then set back after the last renewal, and the lease would last too long.
   */
  get isExpired(): string {
    const { until } = this.names;
    return `(${until} <= now() OR ${until} > now() + interval '${this.seconds + 1} seconds')`;
  }
}

/**
 * A lease that this process holds. Renews the lease while the holder works. Aborts `lost` when another instance has taken the
 * lease, or when the lease could not be renewed and, by default, will soon expire.
 */
export class Lease {
  private readonly losing = new AbortController();
  private readonly renewTimer: NodeJS.Timeout;
  private lossTimer: NodeJS.Timeout;
  private isEnded = false;
  /** Why the last renewal failed. */
  private failure: unknown;

  /**
   * @param seconds the length of the lease, which was just taken
   * @param renew renews the lease in the database; false when another instance holds it
   * @param trustedMs how long to keep the lease without a successful renewal, in milliseconds. By default shorter than the lease, so that
   *   the holder stops its work before another instance can take the lease. May be longer only if two simultaneous holders do little harm
   */
  constructor(
    seconds: number,
    private readonly renew: () => Promise<boolean>,
    private readonly trustedMs = seconds * 800,
  ) {
    this.renewTimer = setInterval(() => void this.renewNow(), seconds * 250);
    this.lossTimer = this.loseIn(this.trustedMs);
  }

  /**
   * Aborts when the holder must stop its work. If a renewal failed, the abort reason has the error of the last failed renewal as its cause.
   */
  get lost(): AbortSignal {
    return this.losing.signal;
  }

  /** Stops renewing. Does not release the lease in the database. */
  end(): void {
    this.isEnded = true;
    clearInterval(this.renewTimer);
    clearTimeout(this.lossTimer);
  }

  private async renewNow(): Promise<void> {
    const askedAt = performance.now();
    // A failed renewal does not lose the lease: the next attempt may succeed. If no attempt succeeds in time, the timer reports the loss.
    const isOurs = await this.renew().catch((error: unknown) => {
      this.failure = error;
      return undefined;
    });
    if (isOurs === undefined || this.isEnded) return;
    this.failure = undefined;
    clearTimeout(this.lossTimer);
    // Measure from the start of the request, because the reply can be slow.
    this.lossTimer = this.loseIn(isOurs ? askedAt + this.trustedMs - performance.now() : 0);
  }

  private loseIn(milliseconds: number): NodeJS.Timeout {
    const lose = (): void => this.losing.abort(new Error('the lease is lost', { cause: this.failure }));
    return setTimeout(lose, Math.max(milliseconds, 0));
  }
}
