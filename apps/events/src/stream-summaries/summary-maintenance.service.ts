import { Inject, Injectable } from '@nestjs/common';
import { FailureLog, LOGGER, WorkerLoop, type Logger } from '@stream-events/service';
import { StreamSummaries } from './stream-summaries.service.js';

const intervalMs = 3_600_000;

/** Every hour, deletes the saved summaries of streams whose events retention has removed. */
@Injectable()
export class SummaryMaintenance {
  private readonly loop: WorkerLoop;

  constructor(summaries: StreamSummaries, @Inject(LOGGER) logger: Logger) {
    const failureLog = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: async () => {
        await summaries.removeOld();
        return false;
      },
      idleMs: intervalMs,
      maxBackoffMs: 60_000,
      onFailure: (err) =>
        failureLog.warn('cannot delete old stream summaries, retrying within a minute', { err }),
    });
  }

  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }
}
