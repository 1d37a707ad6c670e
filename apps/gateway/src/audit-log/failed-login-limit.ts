// An entry takes about 200 bytes. At this rate, a continuous attack on one gateway adds 7 GB in 400 days. Older entries are deleted.
const maxPerMinute = 60;
const minuteMs = 60_000;

/**
 * Limits the audit log entries for failed logins to 60 per minute. Further failed logins are only counted. Anybody can cause failed logins,
 * so an attacker could otherwise fill the disk.
 */
export class FailedLoginLimit {
  private minuteStartedAt: number;
  private admitted = 0;
  private suppressed = 0;

  constructor(private readonly now: () => number = () => performance.now()) {
    this.minuteStartedAt = now();
  }

  /** Returns whether a failed login gets its own entry. If not, counts the login for `takeSuppressed`. */
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
