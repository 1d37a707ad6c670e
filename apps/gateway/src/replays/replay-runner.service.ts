import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { RequestClient, within } from '@stream-events/messaging';
import { FailureLog, LOGGER, WorkerLoop, type Logger } from '@stream-events/service';
import { ReplayChannel } from './replay-channel.js';
import { ReplayRun } from './replay-run.js';
import type { Replay } from './replay.entity.js';
import { ReplaysRepository, type ReplayOrder } from './replays.repository.js';

// What another gateway has left goes on within this time after its lease.
const takeOverEveryMs = 1_000;
const maxBackoffMs = 5_000;
// A batch is in flight for two seconds at most.
const stopLimitMs = 3_000;

/** Runs the replays of this gateway process, and those of others that have died. */
@Injectable()
export class ReplayRunner {
  /** This process, as the holder of leases. */
  private readonly gateway = randomUUID();
  private readonly stopping = new AbortController();
  private readonly running = new Map<string, Promise<void>>();
  private readonly failures: FailureLog;
  private readonly takingOver: WorkerLoop;

  constructor(
    private readonly replays: ReplaysRepository,
    private readonly client: RequestClient,
    private readonly channel: ReplayChannel,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.failures = new FailureLog(logger);
    this.takingOver = new WorkerLoop({
      work: () => this.takeOver(),
      idleMs: takeOverEveryMs,
      maxBackoffMs,
      onFailure: (error) =>
        this.failures.warn('replays of other gateways cannot be looked for', { err: error }),
    });
  }

  /** Takes over what others leave from now on. */
  start(): void {
    this.takingOver.start();
  }

  /** Leaves what runs here to other gateways. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await within(stopLimitMs, this.takingOver.stop());
    await within(stopLimitMs, Promise.all(this.running.values()));
    // Should this fail, they go on when the leases have ended.
    await within(stopLimitMs, this.replays.release(this.gateway));
  }

  /**
   * Begins a replay.
   *
   * @throws ServiceError `conflict` when too many run already
   */
  async begin(order: ReplayOrder): Promise<Replay> {
    const replay = await this.replays.create(order, this.gateway);
    this.run(replay);
    return replay;
  }

  private async takeOver(): Promise<boolean> {
    const left = await this.replays.takeOver(this.gateway, [...this.running.keys()]);
    for (const replay of left) this.run(replay);
    return left.length > 0;
  }

  private run(replay: Replay): void {
    const { replays, client, channel, failures } = this;
    const run = new ReplayRun(replay, this.gateway, { replays, client, channel, failures });
    const running = run.run(this.stopping.signal).finally(() => {
      this.running.delete(replay.id);
      this.logger.info({ replay: replay.id, replayed: run.replayed }, 'a replay runs here no more');
    });
    this.running.set(replay.id, running);
  }
}
