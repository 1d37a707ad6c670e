import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { LOGGER, type Logger } from '@stream-events/service';
import { AuditLogRepository } from './audit-log.repository.js';

const intervalMs = 3_600_000;

/** Deletes the entries of the audit log that are over 400 days old, at the start and every hour. */
@Injectable()
export class AuditLogPruning implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly repository: AuditLogRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.running = this.prune();
    this.timer = setInterval(() => {
      this.running = this.prune();
    }, intervalMs);
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    this.isStopped = true;
    await this.running;
  }

  private async prune(): Promise<void> {
    try {
      while (!this.isStopped && (await this.repository.prune(Date.now())));
    } catch (err) {
      this.logger.warn({ err }, 'cannot delete old entries of the audit log, retrying in 1 h');
    }
  }
}
