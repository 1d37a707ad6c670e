import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { LOGGER, type Logger } from '@stream-events/service';
import { LoginFailures } from './login-failures.repository.js';

const intervalMs = 10 * 60_000;

/** Deletes expired login failures every ten minutes. */
@Injectable()
export class LoginFailuresPruning implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly failures: LoginFailures,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.failures
        .prune()
        .catch((err: unknown) =>
          this.logger.warn({ err }, 'cannot delete expired login failures, retrying in 10 min'),
        );
    }, intervalMs);
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }
}
