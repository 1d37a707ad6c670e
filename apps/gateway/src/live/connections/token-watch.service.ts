import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { TokenLookup } from '../../access/token-lookup.service.js';
import { LiveConnections } from './live-connections.service.js';

// How often to check the tokens. A check takes milliseconds, so connections close within a second when their token is revoked, changed, or
// expired, or their user is disabled.
const intervalMs = 800;

/** Closes the live connections of tokens that are no longer valid, or whose rights have changed. */
@Injectable()
export class TokenWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly failures: FailureLog;
  private timer: NodeJS.Timeout | undefined;
  private isChecking = false;

  constructor(
    private readonly connections: LiveConnections,
    private readonly tokens: TokenLookup,
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

  /** Checks the tokens of all connections. While the database does not respond, connections stay open and no second check starts. */
  private async check(): Promise<void> {
    const { tokenStamps } = this.connections;
    if (this.isChecking || tokenStamps.length === 0) return;
    this.isChecking = true;
    try {
      this.connections.closeTokens(await this.tokens.findEnded(tokenStamps));
    } catch (err) {
      this.failures.warn('cannot check the tokens of live connections, retrying in 0.8 s', { err });
    } finally {
      this.isChecking = false;
    }
  }
}
