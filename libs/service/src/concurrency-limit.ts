import { ServiceError } from '@stream-events/contracts';

/** How much work may run at a time, and how much may wait for its turn. */
export interface ConcurrencyLimitOptions {
  running: number;
  waiting: number;
  /** The `detail` of the error when too much waits. */
  refusal: string;
}

/** Limits how much work of a kind runs at a time. The rest waits for its turn, in order of arrival. */
export class ConcurrencyLimit {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly options: ConcurrencyLimitOptions) {}

  /**
   * Runs work when it is its turn.
   *
   * @throws ServiceError `unavailable` when too much work waits already
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.options.running) this.running += 1;
    else await this.waitForTurn();
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // The turn passes to the next one, so that nothing else can take it in between.
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
