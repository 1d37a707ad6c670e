// Entries per minute for failed logins. An entry takes about 200 bytes: a continuous attack on one gateway adds 7 GB in 400 days, after
// which entries are deleted.
const maxPerMinute = 60;
const minuteMs = 60_000;

/**
 * Limits the audit log entries for failed logins to 60 per minute and counts the rest. Anybody can cause failed logins, and an attacker
 * could otherwise fill the disk.
 */
export class FailedLoginLimit {
  private minuteStartedAt: number;
  private admitted = 0;
  private suppressed = 0;

  constructor(private readonly now: () => number = () => performance.now()) {
    this.minuteStartedAt = now();
  }

  /** Whether a failed login gets its own entry. If not, counts it for `takeSuppressed`. */
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

  /** Returns how many failed logins got no entry since the previous call. */
  takeSuppressed(): number {
    const { suppressed } = this;
    this.suppressed = 0;
    return suppressed;
  }
}
