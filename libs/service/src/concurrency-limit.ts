import { ServiceError } from '@stream-events/contracts';

export interface ConcurrencyLimitOptions {
  running: number;
  waiting: number;
  /** The `detail` of the error when too many tasks are already waiting. */
  refusal: string;
}

/** Limits how many tasks run concurrently. The other tasks wait in order of arrival. */
export class ConcurrencyLimit {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly options: ConcurrencyLimitOptions) {}

  /**
   * Runs a task when its turn comes, and returns its result.
   *
   * @throws ServiceError `unavailable` when too many tasks are already waiting
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.options.running) this.running += 1;
    else await this.waitForTurn();
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // Hand the turn directly to the next waiting task. Otherwise, a new task could take it first.
      if (next) next();
      else this.running -= 1;
    }
  }

  private async waitForTurn(): Promise<void> {
    const { waiting, refusal } = this.options;
    if (this.waiting.length >= waiting) throw new ServiceError('unavailable', refusal);
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}
