import { pause } from './pause.js';

/** How a loop paces itself. */
export interface WorkerLoopOptions {
  /** Does a piece of work; false when there was nothing to do. It ends soon after the signal. */
  work: (stopping: AbortSignal) => Promise<boolean>;
  /** How long to wait when there was nothing to do. */
  idleMs: number;
  /** The longest wait after failures; the first one is half a second, and each one is twice the one before. */
  maxBackoffMs: number;
  onFailure: (error: unknown) => void;
}

const minBackoffMs = 500;

/** Does work again and again, one piece at a time, until it is stopped; failures make it wait. */
export class WorkerLoop {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: WorkerLoopOptions) {}

  start(): void {
    this.running = this.run();
  }

  /** Ends after the piece of work in hand. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
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
      // Jitter keeps instances that fail together from trying together.
      await pause(pauseMs * (0.75 + Math.random() / 4), stopping.signal);
    }
  }

  /** What fails while it is being stopped is given up on purpose. */
  private report(error: unknown): void {
    if (!this.stopping.signal.aborted) this.options.onFailure(error);
  }
}
