import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { PlatformUnavailableError, type OutboundPlatform } from '@stream-events/platforms';
import { PlatformClient, type TokenSource } from '../platform/platform-client.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { AuthorizationServer } from './authorization-server.js';
import { ConnectionsRepository } from './connections.repository.js';
import { UserTokens } from './user-tokens.service.js';

/** A user with a valid connection, whose token the service can use. */
export interface ConnectedUser {
  connectionId: string;
  userId: string;
  scopes: readonly string[];
}

// The retry time when a user's token is lost. It is long, because calls fail until the user acts. The connection says what to do.
const lostRetrySeconds = 60;

/** Calls the platform with connected users' tokens. */
@Injectable()
export class UserPlatforms implements OnModuleInit {
  constructor(
    private readonly connections: ConnectionsRepository,
    private readonly tokens: UserTokens,
    private readonly server: AuthorizationServer,
    private readonly client: PlatformClient,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
  ) {}

  /** Without a client secret, the application has no token of its own. Look-ups then use the token of the first connected user. */
  onModuleInit(): void {
    const { credentials } = this.settings;
    if (credentials && credentials.clientSecret === undefined) this.client.useTokens(this.tokensOfAny());
  }

  /** Returns the connected channels, oldest connection first. */
  async connected(): Promise<ConnectedUser[]> {
    const connections = await this.connections.list();
    return connections.flatMap(({ id, clientId, role, state, userId, scopes }) =>
      state === 'connected' && role === 'channel' && clientId === this.server.clientId && userId !== null
        ? [{ connectionId: id, userId, scopes }]
        : [],
    );
  }

  /** Returns a client that calls the platform with this user's token. Its calls use the user's own rate budget. */
  of(user: ConnectedUser): OutboundPlatform {
    const { definition, urls } = this.settings;
    const tokens = this.tokensOf(user);
    return definition.createOutbound({ call: (call, read) => this.client.call(call, read, tokens) }, urls);
  }

  private tokensOfAny(): TokenSource {
    const any = async (): Promise<TokenSource> => {
      const [user] = await this.connected();
      if (user) return this.tokensOf(user);
      throw new PlatformUnavailableError(
        'The application has no secret, so calls need the token of a user. Connect a channel with POST /api/v1/platform/connections.',
        lostRetrySeconds,
      );
    };
    return {
      userId: null,
      current: async () => (await any()).current(),
      replace: async (refused) => (await any()).replace(refused),
    };
  }

  /**
   * Returns a source of the user's token. After a 401, the source refreshes the token only if the token has become invalid, because the
   * platform also sends a 401 for other reasons.
   */
  private tokensOf({ connectionId, userId }: ConnectedUser): TokenSource {
    return {
      userId,
      current: async () => {
        const connection = await this.connections.find(connectionId);
        return (connection && this.connections.tokensOf(connection)?.accessToken) ?? lost(userId);
      },
      replace: async (refused) => {
        if (await this.server.accepts(refused)) return null;
        return (await this.tokens.refresh(connectionId, refused)) ?? lost(userId);
      },
    };
  }
}

function lost(userId: string): never {
  throw new PlatformUnavailableError(
    `The service has no valid token for user ${userId}. Connect the channel again.`,
    lostRetrySeconds,
  );
}
