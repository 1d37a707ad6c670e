import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { AccessTokens } from '../../users/access-tokens.service.js';
import { LiveConnections } from './live-connections.service.js';

// A rotated token or a disabled user loses open connections within a second: a round takes milliseconds.
const intervalMs = 800;

/** Ends the live connections of tokens that are valid no more. */
@Injectable()
export class TokenWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly failures: FailureLog;
  private timer: NodeJS.Timeout | undefined;
  private isChecking = false;

  constructor(
    private readonly connections: LiveConnections,
    private readonly tokens: AccessTokens,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.failures = new FailureLog(logger);
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.check(), intervalMs);
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** While the database does not answer, connections stay open, and one question is enough. */
  private async check(): Promise<void> {
    const { tokenHashes } = this.connections;
    if (this.isChecking || tokenHashes.length === 0) return;
    this.isChecking = true;
    try {
      this.connections.closeTokens(new Set(await this.tokens.findEnded(tokenHashes)));
    } catch (err) {
      this.failures.warn('tokens of live connections could not be checked', { err });
    } finally {
      this.isChecking = false;
    }
  }
}
