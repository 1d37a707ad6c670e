// An entry takes about 200 bytes. At this rate, 400 days of a permanent attack on one gateway take 7 GB.
const maxPerMinute = 60;
const minuteMs = 60_000;

/**
 * Limits the entries for failed logins, because anybody can cause them: after 60 in a minute, further ones are only counted. Otherwise
 * an attacker could fill the disk.
 */
export class FailedLoginLimit {
  private minuteStartedAt: number;
  private admitted = 0;
  private suppressed = 0;

  constructor(private readonly now: () => number = () => performance.now()) {
    this.minuteStartedAt = now();
  }

  /** Whether a failed login gets an entry of its own. Counts it if not. */
  admit(): boolean {
    if (this.now() >= this.minuteStartedAt + minuteMs) {
      this.minuteStartedAt = this.now();
      this.admitted = 0;
    }
    if (this.admitted < maxPerMinute) {
      this.admitted += 1;
      return true;
    }
    this.suppressed += 1;
    return false;
  }

  /** Returns the number of failed logins without an entry since the last call. */
  takeSuppressed(): number {
    const { suppressed } = this;
    this.suppressed = 0;
    return suppressed;
  }
}
