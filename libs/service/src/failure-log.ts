// The minimum time between two log lines with the same message. An outage can cause hundreds of failures per second.
const intervalMs = 1_000;

// Failures within this time after the log was created are expected. Services that start together need up to 5 s to find each other.
const startMs = 5_000;

/** The part of pino's logger that the failure log uses. */
export interface FailureLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/**
 * Logs failures that occur in bursts. Writes at most one line per second for each message, with the number of failures since the last line.
 * The level is warn, or info in the first 5 s after this log was created, when the service is starting.
 */
export class FailureLog {
  private readonly kinds = new Map<string, { lastLineAt: number; failures: number }>();
  private readonly startedAt: number;

  constructor(
    private readonly logger: FailureLogger,
    /** A monotonic clock, in milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {
    this.startedAt = now();
  }

  /** Whether this log was created less than 5 s ago. Until then, failures are expected. */
  get isStarting(): boolean {
    return this.now() < this.startedAt + startMs;
  }

  /**
   * Counts a failure, and logs at most one line per second for each message. Pass a fixed text as `message`; put variable parts into
   * `details`.
   */
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
