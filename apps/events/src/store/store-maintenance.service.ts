import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, type Logger } from '@stream-events/service';
import { EventsRepository } from './events.repository.js';
import { PartitionsRepository } from './partitions.repository.js';

const intervalMs = 10 * 60_000;

/** Creates partitions ahead of time, and deletes the keys of messages that are too old to be redelivered. */
@Injectable()
export class StoreMaintenance {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly partitions: PartitionsRepository,
    private readonly events: EventsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Creates the partitions that are needed now, then runs every 10 minutes in the background. */
  async start(): Promise<void> {
    await this.partitions.ensureAhead(Date.now());
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
      await this.partitions.ensureAhead(Date.now());
      while ((await this.events.forgetOldMessages()) > 0);
    } catch (error) {
      this.logger.warn({ err: error }, 'store maintenance failed, retrying in 10 minutes');
    }
  }
}
