import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { RequestClient } from '@stream-events/messaging';
import { FailureLog, LOGGER, WorkerLoop, within, type Logger } from '@stream-events/service';
import { ErasureWatch } from '../live/stream/erasure-watch.service.js';
import { ReplayChannel } from './replay-channel.js';
import { ReplayRun } from './replay-run.js';
import type { Replay } from './replay.entity.js';
import { ReplaysRepository, type ReplayOrder } from './replays.repository.js';

// Another gateway's replay continues within this time after its lease has expired.
const takeOverEveryMs = 1_000;
const maxBackoffMs = 5_000;
// Sending a batch takes at most 2 s.
const stopLimitMs = 3_000;

/** Runs the replays of this gateway process, and takes over those of processes that died. */
@Injectable()
export class ReplayRunner {
  /** Id of this process as the holder of leases. */
  private readonly gateway = randomUUID();
  private readonly stopping = new AbortController();
  private readonly running = new Map<string, Promise<void>>();
  private readonly failures: FailureLog;
  private readonly takingOver: WorkerLoop;

  constructor(
    private readonly replays: ReplaysRepository,
    private readonly client: RequestClient,
    private readonly channel: ReplayChannel,
    @Inject(ErasureWatch) private readonly erasures: Pick<ErasureWatch, 'isErased'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.failures = new FailureLog(logger);
    this.takingOver = new WorkerLoop({
      work: () => this.takeOver(),
      idleMs: takeOverEveryMs,
      maxBackoffMs,
      onFailure: (error) =>
        this.failures.warn('cannot look for replays to take over, retrying', { err: error }),
    });
  }

  /** Starts to take over replays of other gateways. */
  start(): void {
    this.takingOver.start();
  }

  /** Stops the running replays, and releases them to other gateways. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await within(stopLimitMs, this.takingOver.stop());
    await within(stopLimitMs, Promise.all(this.running.values()));
    // If this fails, other gateways continue the replays when the leases have expired.
    await within(stopLimitMs, this.replays.release(this.gateway));
  }

  /**
   * Starts a replay.
   *
   * @throws ServiceError `conflict` if too many replays are running
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
    const { replays, client, channel, failures, erasures } = this;
    const parts = { replays, client, channel, failures, erasures };
    const run = new ReplayRun(replay, this.gateway, parts);
    const running = run.run(this.stopping.signal).finally(() => {
      this.running.delete(replay.id);
      this.logger.info({ replay: replay.id, replayed: run.replayed }, 'stopped running the replay');
    });
    this.running.set(replay.id, running);
  }
}
