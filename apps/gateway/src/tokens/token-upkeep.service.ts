import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { FailureLog, LOGGER, WorkerLoop, type Logger } from '@stream-events/service';
import { Tokens } from './tokens.service.js';

const intervalMs = 20_000;

/** Every 20 s, saves when tokens were last used and deletes expired tokens. */
@Injectable()
export class TokenUpkeep implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly loop: WorkerLoop;

  constructor(tokens: Tokens, @Inject(LOGGER) logger: Logger) {
    const failureLog = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: async () => {
        await tokens.saveUses();
        return tokens.prune();
      },
      idleMs: intervalMs,
      maxBackoffMs: 60_000,
      onFailure: (err) =>
        failureLog.warn('cannot save last-used times or delete expired tokens, retrying within a minute', {
          err,
        }),
    });
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.loop.stop();
  }
}
