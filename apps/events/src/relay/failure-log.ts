import type { Logger } from '@stream-events/service';

// An outage fails hundreds of times a second; a person reads one line.
const intervalMs = 1_000;

/** Warns of failures that come in bursts: one line a second at most, which says how many it stands for. */
export class FailureLog {
  private lastLineAt = Number.NEGATIVE_INFINITY;
  private failures = 0;

  constructor(
    private readonly logger: Logger,
    private readonly now: () => number = Date.now,
  ) {}

  /** Counts a failure, and logs it when the last line is a second old. */
  warn(message: string, details: { err: unknown } & Record<string, unknown>): void {
    this.failures += 1;
    if (this.now() < this.lastLineAt + intervalMs) return;
    this.logger.warn({ ...details, failures: this.failures }, message);
    this.lastLineAt = this.now();
    this.failures = 0;
  }
}
