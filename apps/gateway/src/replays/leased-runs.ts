import { randomUUID } from 'node:crypto';
import { FailureLog, within, WorkerLoop, type Logger } from '@stream-events/service';

/** A kind of work that a gateway runs under leases, such as replays. Each kind of work has a table with one row per run. */
export interface LeasedWork<Row extends { id: string }> {
  /** The name of this work in log lines: a singular noun. */
  name: string;
  /** Leases to `gateway` the rows whose leases have expired, except the rows in `running`. Returns the leased rows. */
  takeOver(gateway: string, running: readonly string[]): Promise<Row[]>;
  /** Releases the leases of `gateway`. */
  release(gateway: string): Promise<void>;
  /** Runs a leased row until the work ends or the signal aborts. Returns the fields for the log line. */
  run(row: Row, gateway: string, stopping: AbortSignal): Promise<object>;
}

// How often this gateway looks for rows with expired leases.
const takeOverEveryMs = 1_000;
const maxBackoffMs = 5_000;
// How long `stop` waits for the runs to finish their current steps. Most steps take at most 2 s. Slower steps, such as a read that fails
// after 5 s, are abandoned.
const stopLimitMs = 3_000;

/** Runs the rows that this gateway process has leased, and takes over the rows of processes that died or stopped. */
export class LeasedRuns<Row extends { id: string }> {
  /** The id under which this process holds leases. */
  readonly gateway = randomUUID();
  readonly failures: FailureLog;
  private readonly stopping = new AbortController();
  /** Set by `stop`. Resolves when the runs have ended and their rows are released. */
  private stopped: Promise<void> | undefined;
  private readonly running = new Map<string, Promise<void>>();
  private readonly takingOver: WorkerLoop;

  constructor(
    private readonly work: LeasedWork<Row>,
    private readonly logger: Logger,
  ) {
    this.failures = new FailureLog(logger);
    this.takingOver = new WorkerLoop({
      work: () => this.takeOver(),
      idleMs: takeOverEveryMs,
      maxBackoffMs,
      onFailure: (error) =>
        this.failures.warn(`cannot take over the ${work.name}s of stopped gateways, retrying within 5 s`, {
          err: error,
        }),
    });
  }

  /** Starts to take over rows of other gateways. */
  start(): void {
    this.takingOver.start();
  }

  /** Stops the runs, and releases their rows to other gateways. */
  stop(): Promise<void> {
    return (this.stopped ??= this.stopRuns());
  }

  /** Runs a row that this gateway has leased. After `stop`, releases the row instead, so that another gateway runs it. */
  begin(row: Row): void {
    // The HTTP server still accepts requests after `stop`. Wait until the runs have ended, because `release` releases the rows of all runs.
    if (this.stopped) return void this.stopped.then(() => this.release());
    const running = this.work.run(row, this.gateway, this.stopping.signal).then((outcome) => {
      this.running.delete(row.id);
      this.logger.info({ [this.work.name]: row.id, ...outcome }, `stopped running the ${this.work.name}`);
    });
    this.running.set(row.id, running);
  }

  private async stopRuns(): Promise<void> {
    this.stopping.abort();
    await this.takingOver.stop();
    await within(stopLimitMs, Promise.all(this.running.values()));
    await this.release();
  }

  /** Releases all rows of this gateway. If the release fails, other gateways take over the rows when the leases expire. */
  private release(): Promise<void> {
    return within(stopLimitMs, this.work.release(this.gateway));
  }

  private async takeOver(): Promise<boolean> {
    const left = await this.work.takeOver(this.gateway, [...this.running.keys()]);
    for (const row of left) this.begin(row);
    return left.length > 0;
  }
}
