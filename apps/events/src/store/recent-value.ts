import { FailureLog, type Logger } from '@stream-events/service';

const intervalMs = 1_000;

/** A value that is older than this is read again before it is used. */
export const maxAgeMs = 3_000;

/** How to read a value. */
export interface RecentValueOptions<T> {
  /** The name of the value in log lines, such as `the erased users`. */
  name: string;
  read: () => Promise<T>;
  logger: Logger;
}

/**
 * A value in the database that every write needs and that rarely changes. Each instance reads the value every second. A write sees every
 * change that was committed at least 3 s before the write began. Code that changes the value and then waits longer than 3 s can therefore
 * rely on every instance using the new value.
 */
export class RecentValue<T> {
  private readonly failureLog: FailureLog;
  private value!: T; // read before its first use, see `get`
  /** When the current value was requested, from a monotonic clock. */
  private requestedAt = -Infinity;
  private reading: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: RecentValueOptions<T>) {
    this.failureLog = new FailureLog(options.logger);
  }

  start(): void {
    const { name } = this.options;
    this.timer = setInterval(() => {
      this.refresh().catch((err: unknown) =>
        this.failureLog.warn(`cannot read ${name}, retrying in 1 s`, { err }),
      );
    }, intervalMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    // The failure was already reported to the caller that waits for the value.
    await this.reading?.catch(() => undefined);
  }

  /**
   * Returns the value, at most 3 s old.
   *
   * @throws the database's error when the value is older than 3 s and cannot be read
   */
  async get(): Promise<T> {
    const calledAt = performance.now();
    // Runs at most twice: the first `refresh` may join a slow read that began too long ago.
    while (this.requestedAt < calledAt - maxAgeMs) await this.refresh();
    return this.value;
  }

  /** Reads the value now, or waits for the read in progress. */
  refresh(): Promise<void> {
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async read(): Promise<void> {
    const requestedAt = performance.now();
    this.value = await this.options.read();
    this.requestedAt = requestedAt;
  }
}
