import type { FailureLog, Logger } from '@stream-events/service';

// A broker that restarts is back within this time, and clients may stay where they are.
const unhealthyAfterMs = 30_000;

/** Since when, and why, the stream cannot be read. */
export class FeedHealth {
  /** Undefined while it is read. */
  private failing: { since: number; cause: string } | undefined;
  private warnedCause: string | undefined;

  constructor(
    private readonly logger: Logger,
    private readonly failureLog: FailureLog,
  ) {
    this.failing = { since: performance.now(), cause: 'it has not been read yet' };
  }

  get isFailing(): boolean {
    return this.failing !== undefined;
  }

  noteSuccess(): void {
    if (this.warnedCause !== undefined) this.logger.info('live events are read again');
    this.failing = undefined;
    this.warnedCause = undefined;
  }

  /** One line for each cause, however long it lasts. */
  noteFailure(cause: string): void {
    this.failing = { since: this.failing?.since ?? performance.now(), cause };
    if (cause === this.warnedCause) return;
    this.failureLog.warn('live events cannot be read: it is tried again until they can', { err: cause });
    if (!this.failureLog.isStarting) this.warnedCause = cause;
  }

  /** @throws when the stream could not be read for half a minute */
  check(): Promise<void> {
    if (!this.failing) return Promise.resolve();
    const failingMs = performance.now() - this.failing.since;
    if (failingMs < unhealthyAfterMs) return Promise.resolve();
    const seconds = Math.round(failingMs / 1_000);
    return Promise.reject(new Error(`live events were not read for ${seconds} s: ${this.failing.cause}`));
  }
}
