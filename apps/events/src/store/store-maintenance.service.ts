import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, type Logger } from '@stream-events/service';
import { EventsRepository } from './events.repository.js';
import { PartitionsRepository } from './partitions.repository.js';

const intervalMs = 10 * 60_000;

/** Keeps the store in shape: partitions made ahead, messages forgotten that no redelivery can bring back. */
@Injectable()
export class StoreMaintenance {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly partitions: PartitionsRepository,
    private readonly events: EventsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Makes the partitions that are needed now, then goes on in the background. */
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
      this.logger.warn({ err: error }, 'store maintenance failed: tried again in ten minutes');
    }
  }
}
