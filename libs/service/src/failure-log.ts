import type { Logger } from './logger.js';

// An outage fails hundreds of times a second; a person reads one line.
const intervalMs = 1_000;

// Services that start together find each other within this time: until then a failure is no news.
const startMs = 5_000;

/**
 * Warns of failures that come in bursts: one line a second for each kind, which says how many it stands for. In the first
 * seconds these are only informed of.
 */
export class FailureLog {
  private readonly kinds = new Map<string, { lastLineAt: number; failures: number }>();
  private readonly startedAt: number;

  constructor(
    private readonly logger: Logger,
    /** Milliseconds of a clock that never goes back. */
    private readonly now: () => number = () => performance.now(),
  ) {
    this.startedAt = now();
  }

  /** Whether failures are still no news. */
  get isStarting(): boolean {
    return this.now() < this.startedAt + startMs;
  }

  /** Counts a failure, and logs it when the last line of its kind is a second old. The message is the kind: a fixed text. */
  warn(message: string, details: { err?: unknown } & Record<string, unknown>): void {
    const { lastLineAt, failures } = this.kinds.get(message) ?? { lastLineAt: -Infinity, failures: 0 };
    const isDue = this.now() >= lastLineAt + intervalMs;
    if (isDue)
      this.logger[this.isStarting ? 'info' : 'warn']({ ...details, failures: failures + 1 }, message);
    this.kinds.set(
      message,
      isDue ? { lastLineAt: this.now(), failures: 0 } : { lastLineAt, failures: failures + 1 },
    );
  }
}
