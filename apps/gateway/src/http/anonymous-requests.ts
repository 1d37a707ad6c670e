/** Limits on requests without a valid token. */
export interface AnonymousLimits {
  /** Maximum number of requests per second from one address. */
  perSecond: number;
  /** Maximum number of requests that an address can send at once after a pause. */
  burst: number;
  /** Maximum number of addresses that the gateway remembers. */
  addresses: number;
}

/** What an address has left, as a number of requests. */
interface Allowance {
  left: number;
  updatedAt: number;
}

/**
 * Counts the requests without a valid token from each address (`anonymousKeyOf`). An address has `burst` requests, and gets `perSecond` new
 * ones. No limit applies to an undefined address.
 */
export class AnonymousRequests {
  /** Least recently counted first. */
  private readonly allowances = new Map<string, Allowance>();

  constructor(
    private readonly limits: AnonymousLimits,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Whether the address can send another request. */
  hasRoom(address: string | undefined): boolean {
    return address === undefined || this.left(address) >= 1;
  }

  /** Counts a request. Returns false, and does not count the request, if the address is at its limit. */
  take(address: string | undefined): boolean {
    if (address === undefined) return true;
    const left = this.left(address);
    if (left < 1) return false;
    this.allowances.delete(address);
    this.allowances.set(address, { left: left - 1, updatedAt: this.now() });
    if (this.allowances.size > this.limits.addresses) this.forgetOldest();
    return true;
  }

  /** Takes back a request that turned out to have a valid token. */
  giveBack(address: string | undefined): void {
    const allowance = address === undefined ? undefined : this.allowances.get(address);
    if (allowance) allowance.left += 1;
  }

  private left(address: string): number {
    const { perSecond, burst } = this.limits;
    const allowance = this.allowances.get(address);
    if (!allowance) return burst;
    return Math.min(allowance.left + ((this.now() - allowance.updatedAt) / 1_000) * perSecond, burst);
  }

  /** Bounds the memory. Unless thousands of addresses send requests within seconds, the oldest address has its whole burst again. */
  private forgetOldest(): void {
    const [oldest = ''] = this.allowances.keys();
    this.allowances.delete(oldest);
  }
}
