import { Inject, Injectable } from '@nestjs/common';
import { RequestClient } from '@stream-events/messaging';
import { LOGGER, type Logger } from '@stream-events/service';
import { ErasureWatch } from '../live/stream/erasure-watch.service.js';
import { LeasedRuns } from './leased-runs.js';
import { ReplayChannel } from './replay-channel.js';
import { ReplayRun } from './replay-run.js';
import type { Replay } from './replay.entity.js';
import { ReplaysRepository, type ReplayOrder } from './replays.repository.js';

/** Runs the replays of this gateway process, and takes over the replays of processes that died or stopped. */
@Injectable()
export class ReplayRunner {
  private readonly runs: LeasedRuns<Replay>;

  constructor(
    private readonly replays: ReplaysRepository,
    client: RequestClient,
    channel: ReplayChannel,
    @Inject(ErasureWatch) erasures: Pick<ErasureWatch, 'isErased'>,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.runs = new LeasedRuns(
      {
        name: 'replay',
        takeOver: (gateway, running) => replays.takeOver(gateway, running),
        release: (gateway) => replays.release(gateway),
        run: async (replay, gateway, stopping) => {
          const { failures } = this.runs;
          const run = new ReplayRun(replay, gateway, { replays, client, channel, failures, erasures });
          await run.run(stopping);
          return { replayed: run.replayed };
        },
      },
      logger,
    );
  }

  /** Starts to take over replays of other gateways. */
  start(): void {
    this.runs.start();
  }

  /** Stops the running replays, and releases them to other gateways. */
  stop(): Promise<void> {
    return this.runs.stop();
  }

  /**
   * Starts a replay.
   *
   * @throws ServiceError `conflict` if too many replays are running
   */
  async begin(order: ReplayOrder): Promise<Replay> {
    const replay = await this.replays.create(order, this.runs.gateway);
    this.runs.begin(replay);
    return replay;
  }
}
