import { Inject, Injectable } from '@nestjs/common';
import type { TokenOwner } from '@stream-events/platforms';
import { LOGGER, type Logger } from '@stream-events/service';
import { AuthorizationServer } from './authorization-server.js';
import type { Connection } from './connection.entity.js';
import { ConnectionsRepository } from './connections.repository.js';

const remedy =
  'The platform no longer accepts the tokens: the user disconnected the application, or changed the password. Connect the channel again.';

/** The tokens of users. Refreshes a token when the platform refuses it, and never before: the platform discourages that. */
@Injectable()
export class UserTokens {
  /** The refreshes in progress. Calls that wait for one must not each hold a connection to the database. */
  private readonly refreshes = new Map<string, Promise<string | null>>();

  constructor(
    private readonly repository: ConnectionsRepository,
    private readonly server: AuthorizationServer,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Validates the token of a connection, and refreshes it if it is not valid. Null when the connection has no valid token and cannot
   * get one: the state is then `reconnect_needed`.
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
   * Replaces a token that the platform refuses, once for all callers: those that wait get the token of the first. The new tokens are
   * committed before anybody uses them.
   *
   * After a crash between the platform's reply and the commit, a one-time refresh token is lost, and the next refresh ends in
   * `reconnect_needed`.
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

  /** The same over all instances. */
  private refreshExclusively(id: string, refusedToken: string): Promise<string | null> {
    return this.repository.exclusively(id, async (manager) => {
      const connection = await this.repository.find(id, manager);
      const tokens = connection && this.repository.tokensOf(connection);
      if (!tokens) return null;
      if (tokens.accessToken !== refusedToken) return tokens.accessToken;
      const outcome = await this.server.refresh(tokens.refreshToken);
      if (outcome.kind === 'issued') {
        await this.repository.saveTokens(id, outcome.tokens, manager);
        return outcome.tokens.accessToken;
      }
      await this.repository.saveReconnectNeeded(id, remedy, manager);
      this.logger.warn(
        { connectionId: id, reason: outcome.message },
        'the platform refuses the tokens of a channel, which must be connected again',
      );
      return null;
    });
  }
}
