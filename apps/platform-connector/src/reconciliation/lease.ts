import { leaseSeconds } from '../subscriptions/reconciliation-schedule.repository.js';

const renewIntervalMs = 2_500;
// Before the lease ends for the others: whatever is in flight then has begun while it was ours.
const trustedMs = (leaseSeconds - 2) * 1_000;

/** A lease that is renewed while its holder works; `lost` says that the work must end. */
export class Lease {
  private readonly losing = new AbortController();
  private readonly renewTimer: NodeJS.Timeout;
  private lossTimer: NodeJS.Timeout;
  private isEnded = false;

  /** @param renew says whether the lease is still ours */
  constructor(private readonly renew: () => Promise<boolean>) {
    this.renewTimer = setInterval(() => void this.renewNow(), renewIntervalMs);
    this.lossTimer = this.loseIn(trustedMs);
  }

  get lost(): AbortSignal {
    return this.losing.signal;
  }

  end(): void {
    this.isEnded = true;
    clearInterval(this.renewTimer);
    clearTimeout(this.lossTimer);
  }

  private async renewNow(): Promise<void> {
    const askedAt = performance.now();
    // Not answered is not lost: the next try may be, and if none is, the timer says so.
    const isOurs = await this.renew().catch(() => undefined);
    if (isOurs === undefined || this.isEnded) return;
    clearTimeout(this.lossTimer);
    // From when it was asked for: the answer may have taken long.
    this.lossTimer = this.loseIn(isOurs ? askedAt + trustedMs - performance.now() : 0);
  }

  private loseIn(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.losing.abort(new Error('the lease is lost')), Math.max(milliseconds, 0));
  }
}
