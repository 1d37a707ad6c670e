/**
 * SQL for a lease that two columns of a row store: the holder, and the end of the lease by the database's clock. While an instance holds
 * the lease, no other instance does the work that the row stands for.
 *
 * ```
 *          take                          renewed, every quarter of its time
 *  free ─────────▶ held by one instance ◀──┐
 *   ▲                │    │    └───────────┘
 *   ├── released ────┘    │
 *   └── expired ──────────┘ not renewed in time: the holder has died, or cannot reach the database
 * ```
 *
 * An expired lease still belongs to its holder, who can renew it, until another instance takes it.
 *
 * Put these SQL fragments into your own statements, so that the lease and the row change together. Add the condition `isHeldBy` to every
 * statement that the holder runs on the row: once another instance holds the lease, the statement then changes nothing.
 */
export class LeaseColumns {
  constructor(
    private readonly names: { holder: string; until: string },
    /** How long the lease lasts from each renewal. Never change it: `isExpired` needs the same length in all versions. */
    readonly seconds: number,
  ) {}

  /** Assigns the lease to a holder. @param holder the parameter with the holder's UUID, such as `$1` */
  take(holder: string): string {
    return `${this.names.holder} = ${holder}::uuid, ${this.renewal}`;
  }

  /** Extends the lease. */
  get renewal(): string {
    return `${this.names.until} = ${this.end}`;
  }

  /** The end of a lease that starts now, as a value for an INSERT. */
  get end(): string {
    return `now() + interval '${this.seconds} seconds'`;
  }

  /** Ends the lease, so that any instance can take it at once. */
  get release(): string {
    return `${this.names.until} = now()`;
  }

  /** Condition: this holder has the lease. @param holder the parameter with the holder's UUID, such as `$1` */
  isHeldBy(holder: string): string {
    return `${this.names.holder} = ${holder}::uuid`;
  }

  /**
   * Condition: the holder has released the lease, or did not renew it in time. A lease also counts as expired if its end is further away
   * than its length: the database's clock was set back after the last renewal, so the lease would last too long.
   */
  get isExpired(): string {
    const { until } = this.names;
    return `(${until} <= now() OR ${until} > now() + interval '${this.seconds + 1} seconds')`;
  }
}

/**
 * A lease that this process holds, and renews while it works. Aborts `lost` when another instance has taken the lease, or when no renewal
 * has succeeded for `trustedMs`.
 */
export class Lease {
  private readonly losing = new AbortController();
  private readonly renewTimer: NodeJS.Timeout;
  private lossTimer: NodeJS.Timeout;
  private isEnded = false;
  /** Why the last renewal failed. */
  private failure: unknown;

  /**
   * @param seconds the length of the lease, which must just have been taken
   * @param renew renews the lease in the database; false when another instance holds it
   * @param trustedMs how long to trust the lease without a successful renewal, in milliseconds. The default is shorter than the lease, so
   * that the holder stops before another instance can take the lease. Pass a longer time only if two holders at a time do little harm
   */
  constructor(
    seconds: number,
    private readonly renew: () => Promise<boolean>,
    private readonly trustedMs = seconds * 800,
  ) {
    this.renewTimer = setInterval(() => void this.renewNow(), seconds * 250);
    this.lossTimer = this.loseIn(this.trustedMs);
  }

  /** Aborts when the holder must stop working. The cause of the abort reason is the error of the last renewal, if that renewal failed. */
  get lost(): AbortSignal {
    return this.losing.signal;
  }

  /** Stops renewing, but does not release the lease in the database. */
  end(): void {
    this.isEnded = true;
    clearInterval(this.renewTimer);
    clearTimeout(this.lossTimer);
  }

  private async renewNow(): Promise<void> {
    const askedAt = performance.now();
    // After a failed renewal, the next attempt may succeed; if none does, the timer reports the loss.
    const isOurs = await this.renew().catch((error: unknown) => {
      this.failure = error;
      return undefined;
    });
    if (isOurs === undefined || this.isEnded) return;
    this.failure = undefined;
    clearTimeout(this.lossTimer);
    // Count from the start of the request, because the reply can be slow.
    this.lossTimer = this.loseIn(isOurs ? askedAt + this.trustedMs - performance.now() : 0);
  }

  private loseIn(milliseconds: number): NodeJS.Timeout {
    const lose = (): void => this.losing.abort(new Error('the lease is lost', { cause: this.failure }));
    return setTimeout(lose, Math.max(milliseconds, 0));
  }
}
