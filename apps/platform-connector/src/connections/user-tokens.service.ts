import { Inject, Injectable } from '@nestjs/common';
import type { RefreshOutcome, TokenOwner } from '@stream-events/platforms';
import { FailureLog, LOGGER, within, type Logger } from '@stream-events/service';
import { AuthorizationServer, refreshTimeoutMs } from './authorization-server.js';
import type { Connection } from './connection.entity.js';
import { ConnectionsRepository } from './connections.repository.js';

const remedy =
  'The platform no longer accepts the tokens: the user disconnected the application, or changed the password. Connect the channel again.';

// Maximum number of attempts to save the outcome of a refresh while the callers wait. With pauses of 2 s, five attempts take 8 s, enough
// for the database to restart.
const saveAttempts = 5;
const saveRetryMs = 2_000;
// Maximum time to keep trying to save new tokens after the callers got an error. A database failover can take minutes.
const keepMs = 10 * 60_000;

/** A refresh request: `outcome` is the platform's reply, once it has arrived. */
interface Asked {
  outcome?: RefreshOutcome;
}

/**
 * Validates and refreshes users' tokens. Refreshes a token only after the platform has refused it, because the platform discourages earlier
 * refreshes.
 */
@Injectable()
export class UserTokens {
  /** The refreshes in progress. Callers share a refresh, so that they do not each hold a database connection. */
  private readonly refreshes = new Map<string, Promise<string | null>>();
  /** New tokens that are not saved yet, by connection and refused token. */
  private readonly unsaved = new Map<string, Asked>();
  /** The background tasks that save the entries of `unsaved`. */
  private readonly savings = new Set<Promise<void>>();
  private readonly failures: FailureLog;
  private isStopped = false;

  constructor(
    private readonly repository: ConnectionsRepository,
    private readonly server: AuthorizationServer,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.failures = new FailureLog(logger);
  }

  /**
   * Validates the token of a connection, and refreshes it if it is invalid. Returns the token's owner. Returns null when there is no valid
   * token. Usually, the user must then give consent again, and the connection is in the state `reconnect_needed`.
   *
   * @throws PlatformUnavailableError
   */
  async validate(connection: Connection): Promise<TokenOwner | null> {
    const tokens = this.repository.tokensOf(connection);
    if (!tokens) return null;
    const owner = await this.server.validate(tokens.accessToken);
    if (owner) return owner;
    const renewed = await this.refresh(connection.id, tokens.accessToken);
    return renewed === null ? null : this.server.validate(renewed);
  }

  /**
   * Replaces a token that the platform refused. Concurrent callers share one refresh and get the same new token. The new tokens are
   * committed before any call uses them. If the commit fails for 8 s, the callers get the error, and a background task retries the commit
   * for another 10 min.
   *
   * A one-time refresh token is lost in three cases: the process crashes between the platform's refresh and the commit, the commit keeps
   * failing, or the platform's reply does not arrive within 8 s. The next refresh then ends in `reconnect_needed`.
   *
   * @returns the new access token; null when the user must give consent again, or the connection no longer exists
   * @throws PlatformUnavailableError
   */
  refresh(id: string, refusedToken: string): Promise<string | null> {
    const key = keyOf(id, refusedToken);
    let refresh = this.refreshes.get(key);
    if (!refresh) {
      refresh = this.refreshExclusively(id, refusedToken).finally(() => this.refreshes.delete(key));
      this.refreshes.set(key, refresh);
    }
    return refresh;
  }

  /** Waits up to 9 s for refreshes in progress and for unsaved tokens. The callers may have given up already. */
  async stop(): Promise<void> {
    await within(refreshTimeoutMs + 1_000, this.untilIdle());
    this.isStopped = true;
  }

  private async untilIdle(): Promise<void> {
    // Check again after each wait: a refresh that fails adds a task to `savings`.
    while (this.refreshes.size + this.savings.size > 0)
      await Promise.allSettled([...this.refreshes.values(), ...this.savings]);
  }

  /** Refreshes once. If saving fails, retries only the save: the platform accepts a one-time refresh token only once. */
  private async refreshExclusively(id: string, refusedToken: string): Promise<string | null> {
    const key = keyOf(id, refusedToken);
    const unsaved = this.unsaved.get(key);
    const asked = unsaved ?? {};
    // While a background task saves the tokens, callers make only one attempt.
    const attempts = unsaved ? 1 : saveAttempts;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.refreshInTurn(id, refusedToken, asked);
      } catch (error) {
        if (!asked.outcome) throw error;
        this.failures.warn('cannot save the outcome of a token refresh, retrying in 2 s', {
          err: error,
          connectionId: id,
        });
        if (attempt === attempts) {
          if (!unsaved && asked.outcome.kind === 'issued') this.keep(id, refusedToken, asked);
          throw error;
        }
        await pause();
      }
    }
  }

  /** Keeps new tokens in memory, and starts a background task that saves them. */
  private keep(id: string, refusedToken: string, asked: Asked): void {
    const key = keyOf(id, refusedToken);
    this.unsaved.set(key, asked);
    const saving = this.saveLater(id, refusedToken).finally(() => {
      this.unsaved.delete(key);
      this.savings.delete(saving);
    });
    this.savings.add(saving);
  }

  private async saveLater(id: string, refusedToken: string): Promise<void> {
    const deadline = performance.now() + keepMs;
    for (let isSaved = false; !isSaved;) {
      await pause();
      if (this.isStopped || performance.now() >= deadline) {
        this.logger.error(
          { connectionId: id },
          'lost the new tokens of a user, because the database could not save them. Connect the user again',
        );
        return;
      }
      // `refresh` has already logged a failure.
      isSaved = await this.refresh(id, refusedToken).then(
        () => true,
        () => false,
      );
    }
  }

  /** Refreshes under a lock that all instances share, so that only one of them calls the platform. */
  private refreshInTurn(id: string, refusedToken: string, asked: Asked): Promise<string | null> {
    return this.repository.exclusively(id, async (manager) => {
      const connection = await this.repository.find(id, manager);
      const tokens = connection && this.repository.tokensOf(connection);
      if (!tokens) return null;
      if (tokens.accessToken !== refusedToken) return tokens.accessToken;
      const outcome = (asked.outcome ??= await this.server.refresh(tokens.refreshToken));
      if (outcome.kind === 'issued') {
        await this.repository.saveTokens(id, outcome.tokens, manager);
        return outcome.tokens.accessToken;
      }
      await this.repository.saveReconnectNeeded(id, remedy, manager);
      this.logger.warn(
        { connectionId: id, reason: outcome.message },
        'the platform no longer accepts the tokens of a user. Connect the user again',
      );
      return null;
    });
  }
}

function keyOf(id: string, refusedToken: string): string {
  return `${id} ${refusedToken}`;
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, saveRetryMs);
  });
}
