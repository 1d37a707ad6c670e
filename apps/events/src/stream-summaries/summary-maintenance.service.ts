import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, type Logger } from '@stream-events/service';
import { StreamSummaries } from './stream-summaries.service.js';

const intervalMs = 3_600_000;

/** Deletes saved summaries of streams whose events retention has removed. */
@Injectable()
export class SummaryMaintenance {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly summaries: StreamSummaries,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Runs every hour in the background. */
  start(): void {
    this.timer = setInterval(() => {
      this.running = this.run();
    }, intervalMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      await this.summaries.removeOld();
    } catch (error) {
      this.logger.warn({ err: error }, 'cannot delete old stream summaries, retrying in an hour');
    }
  }
}
