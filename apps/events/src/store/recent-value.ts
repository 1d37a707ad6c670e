import { FailureLog, type Logger } from '@stream-events/service';

const intervalMs = 1_000;

/** `get` reads a value again when it is older than this. */
export const maxAgeMs = 3_000;

export interface RecentValueOptions<T> {
  /** How log lines name the value, such as `the erased users`. */
  name: string;
  read: () => Promise<T>;
  logger: Logger;
}

/**
 * A rarely changing value in the database that every write needs. Each instance reads it every second. A write sees every change committed
 * at least 3 s before the write began. Code that changes the value and waits longer than 3 s can therefore rely on every instance using the
 * new value.
 */
export class RecentValue<T> {
  private readonly failureLog: FailureLog;
  private value!: T; // `get` reads it before the first use
  /** When the current value was requested, by a monotonic clock. */
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
    // The caller that is waiting for the value gets the error.
    await this.reading?.catch(() => undefined);
  }

  /**
   * Returns a value that is at most 3 s old.
   *
   * @throws the database's error when the value is older and cannot be read
   */
  async get(): Promise<T> {
    const calledAt = performance.now();
    // Runs at most twice: the first `refresh` may join a read that began too long ago.
    while (this.requestedAt < calledAt - maxAgeMs) await this.refresh();
    return this.value;
  }

  /** Reads the value now. If a read is running, waits for that read instead. */
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
