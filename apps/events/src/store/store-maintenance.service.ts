import { Inject, Injectable } from '@nestjs/common';
import { FailureLog, LOGGER, WorkerLoop, type Logger } from '@stream-events/service';
import { EventsRepository, maxForgotten } from './events.repository.js';
import { PartitionsRepository } from './partitions.repository.js';

const intervalMs = 10 * 60_000;

/** Creates partitions ahead of time, and deletes deduplication data of messages that are too old to be redelivered. */
@Injectable()
export class StoreMaintenance {
  private readonly loop: WorkerLoop;

  constructor(
    private readonly partitions: PartitionsRepository,
    private readonly events: EventsRepository,
    @Inject(LOGGER) logger: Logger,
  ) {
    const failureLog = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: () => this.run(),
      idleMs: intervalMs,
      maxBackoffMs: 60_000,
      onFailure: (err) =>
        failureLog.warn(
          'cannot create partitions or delete old deduplication keys, retrying within a minute',
          { err },
        ),
    });
  }

  /** Creates the partitions needed now, then runs every 10 minutes in the background. */
  async start(): Promise<void> {
    await this.partitions.ensureAhead(Date.now());
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  /**
   * Creates missing partitions, deletes old raid reports, and deletes one batch of old keys. Returns true when the batch was full, so that
   * the next run follows at once.
   */
  private async run(): Promise<boolean> {
    await this.partitions.ensureAhead(Date.now());
    await this.events.forgetRaidReports();
    return (await this.events.forgetOldMessages()) === maxForgotten;
  }
}
