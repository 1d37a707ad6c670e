import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { FailureLog, LOGGER, WorkerLoop, type Logger } from '@stream-events/service';
import { LoginThrottle } from './login-throttle.service.js';

const intervalMs = 10 * 60_000;

/** Deletes expired data of the login throttle, at startup and every ten minutes. */
@Injectable()
export class LoginThrottlePruning implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly loop: WorkerLoop;

  constructor(throttle: LoginThrottle, @Inject(LOGGER) logger: Logger) {
    const failureLog = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: async () => {
        await throttle.prune();
        return false;
      },
      idleMs: intervalMs,
      maxBackoffMs: 60_000,
      onFailure: (err) =>
        failureLog.warn('cannot delete expired login failures, retrying within a minute', { err }),
    });
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.loop.stop();
  }
}
