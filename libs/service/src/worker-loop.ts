import { pause } from './pause.js';
import { within } from './within.js';

/** The work of a loop, and its pauses. */
export interface WorkerLoopOptions {
  /** Does one piece of work. Returns false when it found nothing to do. Must end soon after the signal aborts. */
  work: (stopping: AbortSignal) => Promise<boolean>;
  /** How long to pause after `work` has returned false, in milliseconds. */
  idleMs: number;
  /** The longest pause after failures, in milliseconds. The first pause is 0.5 s, and each further pause is twice as long. */
  maxBackoffMs: number;
  onFailure: (error: unknown) => void;
}

const minBackoffMs = 500;
// How long a stop waits for the work. Most work ends within milliseconds, but a request to a database or broker that has vanished may never
// end, and must not keep the service from stopping.
const stopLimitMs = 5_000;

/** Repeats a piece of work until `stop` is called. Pauses after failures, longer each time. */
export class WorkerLoop {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: WorkerLoopOptions) {}

  start(): void {
    this.running = this.run();
  }

  /** Stops after the current piece of work, for which it waits up to 5 s. */
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
      // The jitter spreads the retries of instances that failed at the same time.
      await pause(pauseMs * (0.75 + Math.random() / 4), stopping.signal);
    }
  }

  /** Reports a failure, except while stopping, because a stop deliberately interrupts the work. */
  private report(error: unknown): void {
    if (!this.stopping.signal.aborted) this.options.onFailure(error);
  }
}
