import { Inject, Injectable } from '@nestjs/common';
import {
  isJsonObject,
  maxCallReplyBytes,
  parseJson,
  ServiceError,
  type CallPlatformReply,
  type CallPlatformRequest,
  type JsonObject,
} from '@stream-events/contracts';
import {
  actorsOf,
  callRefusal,
  findApiEndpoint,
  PlatformCallError,
  PlatformUnavailableError,
  toApiUrl,
  type ApiEndpoint,
  type PassedReply,
} from '@stream-events/platforms';
import { AuthorizationServer } from '../connections/authorization-server.js';
import type { Connection } from '../connections/connection.entity.js';
import { ConnectionsRepository } from '../connections/connections.repository.js';
import { UserTokens } from '../connections/user-tokens.service.js';
import { AppTokens } from '../platform/app-tokens.service.js';
import { PlatformClient, type TokenSource } from '../platform/platform-client.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { chooseToken } from './choose-token.js';

// Retrying is pointless until the service restarts with another configuration.
const noPlatformRetrySeconds = 3_600;

// Other types, such as HTML of a proxy, must not run as a page of this service.
const passedTypes = /^(application\/json|text\/calendar|text\/plain)\b/i;
const otherType = 'application/octet-stream';

/** Makes the calls of clients, with the token that the catalog and the call ask for. */
@Injectable()
export class ClientCalls {
  constructor(
    private readonly client: PlatformClient,
    private readonly appTokens: AppTokens,
    private readonly userTokens: UserTokens,
    private readonly server: AuthorizationServer,
    private readonly connections: ConnectionsRepository,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
  ) {}

  /** @throws ServiceError, PlatformUnavailableError */
  async call(request: CallPlatformRequest): Promise<CallPlatformReply> {
    if (this.settings.platform === 'none')
      throw new PlatformUnavailableError(
        'No platform is configured (PLATFORM is none).',
        noPlatformRetrySeconds,
      );
    const endpoint = findEndpoint(request);
    const { method, query, body } = request;
    const tokens = await this.tokensFor(endpoint, request);
    const url = toApiUrl(this.settings.urls, endpoint, query);
    const reply = await this.client.pass({ method, url, ...(body !== null && { body }) }, tokens);
    return this.toReply(reply);
  }

  private async tokensFor(
    endpoint: ApiEndpoint,
    { query, body, connectionId }: CallPlatformRequest,
  ): Promise<TokenSource> {
    const actors = actorsOf(endpoint, new URLSearchParams(query), readBody(body));
    const { clientId } = this.server;
    const connections = (await this.connections.list()).filter((each) => each.clientId === clientId);
    const connection = chooseToken(endpoint, { connectionId, actors }, connections);
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

  /** The platform replies 401 for several reasons. A token is only refreshed when it is no longer valid. */
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

  /** @throws PlatformCallError when the reply is too large */
  private toReply({ status, headers, bytes }: PassedReply): CallPlatformReply {
    if (bytes.length > maxCallReplyBytes)
      throw new PlatformCallError(
        'too_large',
        `The platform sent a reply of more than ${maxCallReplyBytes / 1024} KiB. Request a smaller page with \`first\`.`,
      );
    const passed = this.settings.definition.protocol.passedHeaders.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    });
    const type = headers['content-type'];
    const isPassed = typeof type === 'string' && passedTypes.test(type);
    return {
      status,
      headers: {
        ...Object.fromEntries(passed),
        ...(bytes.length > 0 && { 'content-type': isPassed ? type : otherType }),
      },
      body: bytes.toString('base64'),
    };
  }
}

/** @throws ServiceError */
function findEndpoint({ method, path }: CallPlatformRequest): ApiEndpoint {
  const found = findApiEndpoint(method, path);
  if (found.kind !== 'found')
    throw new ServiceError('not_found', 'The service knows no such endpoint of the platform’s API.');
  const refusal = callRefusal(found.endpoint);
  if (refusal !== null) throw new ServiceError('forbidden', refusal);
  return found.endpoint;
}

function readBody(text: string | null): JsonObject {
  const body: unknown = text === null ? undefined : parseJson(text);
  return isJsonObject(body) ? body : {};
}

function lost({ id }: Pick<Connection, 'id'>): never {
  throw new ServiceError(
    'conflict',
    `Connection ${id} has no valid token any more. Connect the channel again.`,
  );
}
