import { Inject, Injectable } from '@nestjs/common';
import {
  parseJson,
  isJsonObject,
  ServiceError,
  type CallPlatformRequest,
  type JsonObject,
} from '@stream-events/contracts';
import { actorsOf, type ApiEndpoint } from '@stream-events/platforms';
import { AuthorizationServer } from '../connections/authorization-server.js';
import type { Connection } from '../connections/connection.entity.js';
import { ConnectionsRepository } from '../connections/connections.repository.js';
import { UserTokens } from '../connections/user-tokens.service.js';
import { AppTokens } from '../platform/app-tokens.service.js';
import type { TokenSource } from '../platform/platform-client.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { chooseToken } from './choose-token.js';

/** Finds the token to use for a client's call. */
@Injectable()
export class CallTokens {
  constructor(
    private readonly appTokens: AppTokens,
    private readonly userTokens: UserTokens,
    private readonly server: AuthorizationServer,
    private readonly connections: ConnectionsRepository,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
  ) {}

  /** @throws ServiceError like `chooseToken` */
  async find(
    endpoint: ApiEndpoint,
    { query, body, connectionId }: CallPlatformRequest,
  ): Promise<TokenSource> {
    const actors = actorsOf(endpoint, new URLSearchParams(query), readBody(body));
    const { clientId } = this.server;
    const connections = (await this.connections.list()).filter((each) => each.clientId === clientId);
    const { credentials } = this.settings;
    // Without an application, the call fails later with the variables that are missing.
    const hasAppToken = !credentials || credentials.clientSecret !== undefined;
    const connection = chooseToken(endpoint, { connectionId, actors, hasAppToken }, connections);
    return connection ? this.tokenOf(connection) : this.appToken();
  }

  private appToken(): TokenSource {
    return {
      userId: null,
      current: () => this.appTokens.current(),
      replace: async (refused) =>
        (await this.server.accepts(refused)) ? null : this.appTokens.replace(refused),
    };
  }

  /**
   * Returns a source of the connection's token. After a 401, the source refreshes the token only if the token has become invalid, because
   * the platform also sends a 401 for other reasons.
   */
  private tokenOf(connection: Connection): TokenSource {
    let token = this.connections.tokensOf(connection)?.accessToken ?? lost(connection);
    return {
      userId: connection.userId,
      current: () => Promise.resolve(token),
      replace: async (refused) => {
        if (await this.server.accepts(refused)) return null;
        token = (await this.userTokens.refresh(connection.id, refused)) ?? lost(connection);
        return token;
      },
    };
  }
}

function readBody(text: string | null): JsonObject {
  const body: unknown = text === null ? undefined : parseJson(text);
  return isJsonObject(body) ? body : {};
}

function lost({ id }: Pick<Connection, 'id'>): never {
  throw new ServiceError(
    'conflict',
    `Connection ${id} no longer has a valid token. Connect the channel again.`,
  );
}
