/** The limits of a resource that client addresses share. */
export interface ShareLimits {
  /** Maximum amount that all addresses together may hold. */
  total: number;
  /** Maximum amount that one address may hold. */
  perAddress: number;
  /** After this time, a claim gives way even if its address holds no more than the address of the new claim. */
  patienceMs: number;
}

/** A part of the resource that an address holds. */
export interface Claim {
  /** Ends the claim. Further calls have no effect. */
  release(): void;
  /**
   * Lets the claim give way to other claims from now on. `giveWay` ends the use of the resource, or returns false if the use cannot end
   * now.
   */
  offer(giveWay: () => boolean): void;
}

/** A claim that can give way. */
interface Offer {
  readonly since: number;
  readonly giveWay: () => boolean;
  readonly claim: Claim;
}

interface Holder {
  cost: number;
  /** Sorted by age, the oldest offer first. */
  readonly offers: Set<Offer>;
}

/**
 * Shares a limited resource between client addresses, so that the claims of some addresses never keep all others out:
 *
 * ```
 *  within both limits ──────────────────────────────▶ granted
 *  the address is at its limit ─────────────────────▶ its oldest claim gives way if it has lasted `patienceMs`
 *  all together are at the limit, and
 *    other addresses hold more than the newcomer's ─▶ the oldest claim of the address that holds most gives way
 *    none holds more ───────────────────────────────▶ the oldest claim gives way if it has lasted `patienceMs`
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

  /** Claims a part of the resource for an address. Returns undefined if there is no room. */
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

  /** Ends a claim to make room for an address that will hold `cost` in total. Returns false if no claim can give way. */
  private makeRoomFor(cost: number): boolean {
    for (const holder of this.heaviestFirst()) {
      const isHeavier = holder.cost > cost;
      if (this.makeRoom(holder, isHeavier ? 0 : this.limits.patienceMs)) return true;
      if (!isHeavier) return false;
    }
    return false;
  }

  /**
   * Yields the addresses, heaviest first. Sorts all but the heaviest address only on demand, because the heaviest is nearly always enough.
   */
  private *heaviestFirst(): Generator<Holder> {
    let heaviest: Holder | undefined;
    for (const holder of this.holders.values()) if (holder.cost > (heaviest?.cost ?? 0)) heaviest = holder;
    if (!heaviest) return;
    yield heaviest;
    const others = [...this.holders.values()].filter((holder) => holder !== heaviest);
    yield* others.sort((a, b) => b.cost - a.cost);
  }

  /** Ends the oldest claim that can end and has lasted `patienceMs`. Returns false if there is no such claim. */
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
