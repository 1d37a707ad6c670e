import { ServiceError } from '@stream-events/contracts';

/** How many pieces of work may run at a time, and how many may wait for their turn. */
export interface ConcurrencyLimitOptions {
  running: number;
  waiting: number;
  /** The `detail` of the error when too much waits. */
  refusal: string;
}

/** Limits how many pieces of work run at a time. Further work waits for its turn, in order of arrival. */
export class ConcurrencyLimit {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly options: ConcurrencyLimitOptions) {}

  /**
   * Runs work when it is its turn.
   *
   * @throws ServiceError `unavailable` when too much work is already waiting
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.options.running) this.running += 1;
    else await this.waitForTurn();
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // Pass the turn directly to the next waiting piece of work, so that no new work can take the turn first.
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
