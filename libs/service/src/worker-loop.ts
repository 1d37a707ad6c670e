import { pause } from './pause.js';
import { within } from './within.js';

export interface WorkerLoopOptions {
  /** Does one piece of work, and returns false when there was nothing to do. Must end soon after the signal aborts. */
  work: (stopping: AbortSignal) => Promise<boolean>;
  /** How long to pause after `work` has returned false, in milliseconds. Each pause is up to a quarter shorter, at random. */
  idleMs: number;
  /** The longest pause after failures, in milliseconds. The pause starts at 0.5 s and doubles with each failure in a row. */
  maxBackoffMs: number;
  onFailure: (error: unknown) => void;
}

const minBackoffMs = 500;
// How long a stop waits for the work. Most work ends within milliseconds, but a request to a vanished database or broker may never end.
const stopLimitMs = 5_000;

/** Repeats a piece of work until `stop` is called. After failures, pauses longer each time. */
export class WorkerLoop {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: WorkerLoopOptions) {}

  start(): void {
    this.running = this.run();
  }

  /** Stops the loop. Waits up to 5 s for the current piece of work. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await within(stopLimitMs, this.running);
  }

  private async run(): Promise<void> {
    const { stopping } = this;
    let backoffMs = 0;
    while (!stopping.signal.aborted) {
      let pauseMs = 0;
      try {
        if (!(await this.options.work(stopping.signal))) pauseMs = this.options.idleMs;
        backoffMs = 0;
      } catch (error) {
        this.report(error);
        backoffMs = Math.min(Math.max(2 * backoffMs, minBackoffMs), this.options.maxBackoffMs);
        pauseMs = backoffMs;
      }
      // The jitter spreads the retries of instances that failed together.
      await pause(pauseMs * (0.75 + Math.random() / 4), stopping.signal);
    }
  }

  /** Reports a failure, except during a stop, which interrupts the work on purpose. */
  private report(error: unknown): void {
    if (!this.stopping.signal.aborted) this.options.onFailure(error);
  }
}
