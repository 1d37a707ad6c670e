import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { FailureLog, LOGGER, WorkerLoop, type Logger } from '@stream-events/service';
import { AuditLogRepository } from './audit-log.repository.js';

const intervalMs = 3_600_000;

/** Deletes audit log entries older than 400 days, at startup and every hour. */
@Injectable()
export class AuditLogPruning implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly loop: WorkerLoop;

  constructor(repository: AuditLogRepository, @Inject(LOGGER) logger: Logger) {
    const failureLog = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: () => repository.prune(Date.now()),
      idleMs: intervalMs,
      maxBackoffMs: 60_000,
      onFailure: (err) =>
        failureLog.warn('cannot delete old audit log entries, retrying within a minute', { err }),
    });
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.loop.stop();
  }
}
