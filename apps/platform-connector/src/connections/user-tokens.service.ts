import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { RefreshOutcome, TokenOwner } from '@stream-events/platforms';
import { LOGGER, within, type Logger } from '@stream-events/service';
import { AuthorizationServer, refreshTimeoutMs } from './authorization-server.js';
import type { Connection } from './connection.entity.js';
import { ConnectionsRepository } from './connections.repository.js';

const remedy =
  'The platform no longer accepts the tokens: the user disconnected the application, or changed the password. Connect the channel again.';

// With pauses of 2 s, the attempts cover 8 s, which is enough for a restart of the database.
const saveAttempts = 5;
const saveRetryMs = 2_000;

/** The platform's reply to a refresh, once it has arrived. */
interface Asked {
  outcome?: RefreshOutcome;
}

/**
 * Validates and refreshes users' tokens. Refreshes only a token that the platform has refused, because the platform discourages earlier
 * refreshes.
 */
@Injectable()
export class UserTokens {
  /** The refreshes in progress. Callers share a refresh, so that waiting callers do not each hold a database connection. */
  private readonly refreshes = new Map<string, Promise<string | null>>();

  constructor(
    private readonly repository: ConnectionsRepository,
    private readonly server: AuthorizationServer,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Validates the token of a connection, and refreshes an invalid token. Returns the token's owner; null when the user must give consent
   * again, and the connection is in the state `reconnect_needed`.
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
   * Replaces a token that the platform refuses. Concurrent callers share one refresh and get the same new token. The new tokens are
   * committed before any call uses them.
   *
   * After a crash between the platform's reply and the commit, or when the platform takes over 8 s to reply, a one-time refresh token is
   * lost, and the next refresh ends in `reconnect_needed`.
   *
   * @returns the new access token; null when the user must give consent again
   * @throws PlatformUnavailableError
   */
  refresh(id: string, refusedToken: string): Promise<string | null> {
    const key = `${id} ${refusedToken}`;
    let refresh = this.refreshes.get(key);
    if (!refresh) {
      refresh = this.refreshExclusively(id, refusedToken).finally(() => this.refreshes.delete(key));
      this.refreshes.set(key, refresh);
    }
    return refresh;
  }

  /** Waits up to 9 s for the refreshes in progress, because their callers may have stopped waiting. */
  async stop(): Promise<void> {
    await within(refreshTimeoutMs + 1_000, Promise.allSettled(this.refreshes.values()));
  }

  /** Refreshes once. If the outcome cannot be saved, saves it again, because the platform accepts a one-time refresh token only once. */
  private async refreshExclusively(id: string, refusedToken: string): Promise<string | null> {
    const asked: Asked = {};
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.refreshInTurn(id, refusedToken, asked);
      } catch (error) {
        if (!asked.outcome || attempt >= saveAttempts) throw error;
        this.logger.warn(
          { err: error, connectionId: id },
          'cannot save the outcome of a token refresh, retrying in 2 s',
        );
        await wait(saveRetryMs);
      }
    }
  }

  /** Refreshes under a lock that all instances share. */
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
        'the platform no longer accepts the tokens of a user, connect the user again',
      );
      return null;
    });
  }
}
