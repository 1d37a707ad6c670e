import type { FailureLog, Logger } from '@stream-events/service';

// How long reading can fail before the health check fails. A NATS restart takes less time, so the gateway stays ready and keeps its
// clients.
const unhealthyAfterMs = 30_000;

/** Tracks why the stream cannot be read, and for how long. */
export class FeedHealth {
  /** Undefined while the stream is being read. */
  private failing: { since: number; cause: string } | undefined;
  private warnedCause: string | undefined;

  constructor(
    private readonly logger: Logger,
    private readonly failureLog: FailureLog,
  ) {
    this.failing = { since: performance.now(), cause: 'the EVENTS stream has not been read yet' };
  }

  get isFailing(): boolean {
    return this.failing !== undefined;
  }

  noteSuccess(): void {
    if (this.warnedCause !== undefined) this.logger.info('reading live events again');
    this.failing = undefined;
    this.warnedCause = undefined;
  }

  /** Records a failure. Logs it only if its cause differs from the last logged cause, so that a long outage does not fill the log. */
  noteFailure(cause: string): void {
    this.failing = { since: this.failing?.since ?? performance.now(), cause };
    if (cause === this.warnedCause) return;
    this.failureLog.warn('cannot read live events, retrying', { err: cause });
    if (!this.failureLog.isStarting) this.warnedCause = cause;
  }

  /** @throws if the stream could not be read for 30 s */
  check(): Promise<void> {
    if (!this.failing) return Promise.resolve();
    const failingMs = performance.now() - this.failing.since;
    if (failingMs < unhealthyAfterMs) return Promise.resolve();
    const seconds = Math.round(failingMs / 1_000);
    return Promise.reject(new Error(`live events could not be read for ${seconds} s: ${this.failing.cause}`));
  }
}
