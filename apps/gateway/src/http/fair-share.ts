/** Limits on a resource that clients share. */
export interface ShareLimits {
  /** Maximum amount in use by all addresses together. */
  total: number;
  /** Maximum amount in use by one address. */
  perAddress: number;
  /**
   * Minimum age of an offer before it can give way to an address that holds as much or more. Offers of an address that holds more than the
   * newcomer give way at any age.
   */
  patienceMs: number;
}

/** An amount of the resource that an address uses. */
export interface Claim {
  /** Ends the claim. Further calls have no effect. */
  release(): void;
  /**
   * From now on, the claim can give way to other claims. `giveWay` ends the use of the resource. It returns false if the use cannot end at
   * the moment.
   */
  offer(giveWay: () => boolean): void;
}

interface Offer {
  readonly since: number;
  readonly giveWay: () => boolean;
  readonly claim: Claim;
}

interface Holder {
  cost: number;
  /** Oldest offer first. */
  readonly offers: Set<Offer>;
}

/**
 * Shares a limited resource between client addresses, so that a few addresses cannot keep all others out. In this table, an offer is a
 * claim that can give way:
 *
 * ```
 *  within both limits ──────────────────────────────▶ granted
 *  the address is at its limit ─────────────────────▶ its oldest offer gives way if it is `patienceMs` old
 *  all together are at the limit, and
 *    other addresses hold more than the newcomer's ─▶ the oldest offer of the address that holds most gives way
 *    none holds more ───────────────────────────────▶ the same offer gives way if it is `patienceMs` old
 *  nothing gives way ───────────────────────────────▶ refused
 * ```
 */
export class FairShare {
  private readonly holders = new Map<string, Holder>();
  private total = 0;

  constructor(
    private readonly limits: ShareLimits,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Returns undefined if there is no room and no other claim gives way. */
  claim(address: string, cost: number): Claim | undefined {
    const { total, perAddress, patienceMs } = this.limits;
    while (this.heldBy(address) + cost > perAddress)
      if (!this.makeRoom(this.holders.get(address), patienceMs)) return undefined;
    while (this.total + cost > total) if (!this.makeRoomFor(this.heldBy(address) + cost)) return undefined;
    return this.grant(address, cost);
  }

  private heldBy(address: string): number {
    return this.holders.get(address)?.cost ?? 0;
  }

  /** Ends one claim to make room for an address that will hold `cost` in total. Returns false if no claim can give way. */
  private makeRoomFor(cost: number): boolean {
    for (const holder of this.heaviestFirst()) {
      const isHeavier = holder.cost > cost;
      if (this.makeRoom(holder, isHeavier ? 0 : this.limits.patienceMs)) return true;
      if (!isHeavier) return false;
    }
    return false;
  }

  /** Yields the addresses in order of what they hold, most first. Sorts only when the first one cannot give way, which is rare. */
  private *heaviestFirst(): Generator<Holder> {
    let heaviest: Holder | undefined;
    for (const holder of this.holders.values()) if (holder.cost > (heaviest?.cost ?? 0)) heaviest = holder;
    if (!heaviest) return;
    yield heaviest;
    const others = [...this.holders.values()].filter((holder) => holder !== heaviest);
    yield* others.sort((a, b) => b.cost - a.cost);
  }

  /** Ends the claim with the oldest offer that can end now and is at least `patienceMs` old. Returns false if there is no such claim. */
  private makeRoom(holder: Holder | undefined, patienceMs: number): boolean {
    const latest = this.now() - patienceMs;
    for (const { since, giveWay, claim } of holder?.offers ?? []) {
      if (since > latest) return false;
      if (!giveWay()) continue;
      claim.release();
      return true;
    }
    return false;
  }

  private grant(address: string, cost: number): Claim {
    const holder = this.holders.get(address) ?? { cost: 0, offers: new Set() };
    holder.cost += cost;
    this.total += cost;
    this.holders.set(address, holder);
    let isHeld = true;
    let offer: Offer | undefined;
    const claim: Claim = {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        if (offer) holder.offers.delete(offer);
        holder.cost -= cost;
        this.total -= cost;
        if (holder.cost === 0) this.holders.delete(address);
      },
      offer: (giveWay) => {
        if (!isHeld || offer) return;
        offer = { since: this.now(), giveWay, claim };
        holder.offers.add(offer);
      },
    };
    return claim;
  }
}
