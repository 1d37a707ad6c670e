import { Inject, Injectable } from '@nestjs/common';
import { RequestClient } from '@stream-events/messaging';
import { LOGGER, type Logger } from '@stream-events/service';
import { NamedConnections } from '../live/connections/named-connections.js';
import { ErasureWatch } from '../live/stream/erasure-watch.service.js';
import { LeasedRuns } from '../replays/leased-runs.js';
import { RehearsalRun } from './rehearsal-run.js';
import type { Rehearsal } from './rehearsal.entity.js';
import { RehearsalsRepository, type RehearsalOrder } from './rehearsals.repository.js';

/** Runs the rehearsals of this process, and takes over rehearsals whose process stopped or died. */
@Injectable()
export class RehearsalRunner {
  private readonly runs: LeasedRuns<Rehearsal>;

  constructor(
    private readonly rehearsals: RehearsalsRepository,
    client: RequestClient,
    @Inject(NamedConnections) connections: Pick<NamedConnections, 'send'>,
    @Inject(ErasureWatch) erasures: Pick<ErasureWatch, 'isErased'>,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.runs = new LeasedRuns(
      {
        name: 'rehearsal',
        takeOver: (gateway, running) => rehearsals.takeOver(gateway, running),
        release: (gateway) => rehearsals.release(gateway),
        run: async (rehearsal, gateway, stopping) => {
          const { failures } = this.runs;
          const parts = { rehearsals, client, connections, failures, erasures };
          const run = new RehearsalRun(rehearsal, gateway, parts);
          await run.run(stopping);
          return { sent: run.sentCount };
        },
      },
      logger,
    );
  }

  /** Begins taking over rehearsals whose process stopped or died. */
  start(): void {
    this.runs.start();
  }

  /** Stops all runs and releases them, so that other gateways continue them. */
  stop(): Promise<void> {
    return this.runs.stop();
  }

  /** @throws ServiceError like `RehearsalsRepository.create` */
  async begin(order: RehearsalOrder): Promise<Rehearsal> {
    const rehearsal = await this.rehearsals.create(order, this.runs.gateway);
    this.runs.begin(rehearsal);
    return rehearsal;
  }
}
