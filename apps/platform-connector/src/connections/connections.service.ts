import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  ServiceError,
  type CompleteConnectionRequest,
  type ConnectionMessage,
  type StartConnectionRequest,
} from '@stream-events/contracts';
import { botScopes, PlatformUnavailableError, scopesFor, type CodeOutcome } from '@stream-events/platforms';
import { LOGGER, type Logger } from '@stream-events/service';
import { EventTypesService } from '../event-types/event-types.service.js';
import { AuthorizationServer } from './authorization-server.js';
import { ConnectionConsequences } from './connection-consequences.service.js';
import type { Connection } from './connection.entity.js';
import { ConnectionsRepository, type NewConnection } from './connections.repository.js';

// Maximum number of pending connections. Each one with a device code is polled every few seconds.
const maxPending = 10;
// How long a browser may take to return. The user may have to sign in on the platform first.
const stateLifetimeMs = 10 * 60_000;

@Injectable()
export class ConnectionsService {
  constructor(
    private readonly repository: ConnectionsRepository,
    private readonly server: AuthorizationServer,
    private readonly eventTypes: EventTypesService,
    private readonly consequences: ConnectionConsequences,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async list(): Promise<ConnectionMessage[]> {
    return (await this.repository.list()).map(toMessage);
  }

  /** @throws ServiceError `not_found` */
  async get(id: string): Promise<ConnectionMessage> {
    return toMessage((await this.repository.find(id)) ?? missing(id));
  }

  /**
   * Starts a connection, which asks a user for consent. Requests the scopes in `request` plus those that the service needs: for a channel,
   * those of the active event types; for a bot account, `botScopes`.
   *
   * @throws ServiceError `conflict` when too many connections are pending or the flow is not possible; PlatformUnavailableError
   */
  async start(request: StartConnectionRequest = {}): Promise<ConnectionMessage> {
    const { role = 'channel', flow = 'device_code', scopes: others = [] } = request;
    // If there is no client id, both flows throw an error below.
    const { clientId = '' } = this.server;
    const needed = role === 'bot' ? botScopes : await this.channelScopes(clientId);
    const scopes = [...new Set([...needed, ...others])].sort();
    if (flow === 'authorization_code') return this.startInBrowser({ clientId, role, scopes }, request);
    return this.add({ clientId, role, scopes, waitsFor: await this.server.requestDeviceCode(scopes) });
  }

  /**
   * Starts the first connection of a new installation: for a channel, with a device code. If no active event type needs a channel's
   * consent, first activates all supported event types. If a connection with a valid device code is already pending, returns that one.
   * Returns undefined if any connection already belongs to a user.
   *
   * @throws like `start`
   */
  async offer(): Promise<ConnectionMessage | undefined> {
    const connections = await this.repository.list();
    if (connections.some(({ userId }) => userId !== null)) return undefined;
    const waiting = connections.find(
      ({ userCode, expiresAt }) => userCode !== null && Date.now() < (expiresAt?.getTime() ?? 0),
    );
    if (waiting) return toMessage(waiting);
    if (scopesFor(await this.eventTypes.active()).length === 0) await this.eventTypes.activateAll();
    return this.start();
  }

  /**
   * Gets the tokens of a user whose browser has returned from the authorize page.
   *
   * @throws ServiceError `not_found` when the state is unknown, used, or expired; `conflict` when the user refused or the platform rejects
   * the code; PlatformUnavailableError
   */
  async complete({ state, code }: CompleteConnectionRequest): Promise<ConnectionMessage> {
    const connection = await this.repository.takeByState(hashOf(state));
    if (!connection)
      throw new ServiceError(
        'not_found',
        'This link has expired or was already used. Start a new connection.',
      );
    const { id } = connection;
    const outcome = code === undefined ? null : await this.exchange(id, code);
    if (outcome?.kind !== 'issued') {
      const reason = outcome ? `The platform refused the code: ${outcome.message}.` : 'The user refused.';
      await this.repository.saveExpired(id, `${reason} Start a new connection.`);
      throw new ServiceError('conflict', `${reason} Start a new connection.`);
    }
    await this.repository.saveTokens(id, outcome.tokens);
    await this.repository.postpone(id, 0);
    return this.get(id);
  }

  /** @throws ServiceError `not_found` */
  async remove(id: string): Promise<void> {
    const connection = (await this.repository.remove(id)) ?? missing(id);
    if (connection.userId !== null) await this.consequences.onRemoved(connection.userId);
    const tokens = this.repository.tokensOf(connection);
    if (!tokens) return;
    // Only log a failure. The service has deleted its copy of the tokens, so it cannot retry the revocation.
    await this.server.revoke(tokens.accessToken).catch((error: unknown) => {
      this.logger.warn(
        { err: error, connectionId: id },
        'cannot revoke the token of a removed connection; the user can disconnect the application on the platform',
      );
    });
  }

  private async channelScopes(clientId: string): Promise<string[]> {
    const hasBot = (await this.repository.findBotId(clientId)) !== undefined;
    return scopesFor(await this.eventTypes.active(), { hasBot });
  }

  private async startInBrowser(
    connection: Omit<NewConnection, 'waitsFor'>,
    { startedBy }: StartConnectionRequest,
  ): Promise<ConnectionMessage> {
    const state = `${startedBy}.${randomBytes(32).toString('base64url')}`;
    const page = this.server.authorizePage(connection.scopes, state);
    if (page === undefined || startedBy === undefined)
      throw new ServiceError(
        'conflict',
        'The flow authorization_code needs PUBLIC_URL, to which the browser returns, and a client secret. Use the flow device_code instead.',
      );
    const waitsFor = { stateHash: hashOf(state), expiresInMs: stateLifetimeMs };
    // Do not store the address: it contains the secret state.
    return { ...(await this.add({ ...connection, waitsFor })), verificationUri: page };
  }

  private async add(connection: NewConnection): Promise<ConnectionMessage> {
    const added = await this.repository.add(connection, maxPending);
    if (added) return toMessage(added);
    throw new ServiceError(
      'conflict',
      `${maxPending} connections are already waiting for consent. Wait until they expire, or delete one.`,
    );
  }

  private async exchange(id: string, code: string): Promise<CodeOutcome> {
    try {
      return await this.server.exchangeCode(code);
    } catch (error) {
      // End the connection. The platform may already have accepted the code, which works only once.
      const reason =
        error instanceof PlatformUnavailableError ? error.message : 'The code was not exchanged.';
      await this.repository.saveExpired(id, `${reason} Start a new connection.`);
      throw error;
    }
  }
}

function missing(id: string): never {
  throw new ServiceError('not_found', `Connection ${id} does not exist.`);
}

function hashOf(state: string): string {
  return createHash('sha256').update(state).digest('hex');
}

function toMessage(connection: Connection): ConnectionMessage {
  const { id, state, role, userId, login, scopes, userCode, verificationUri, expiresAt, remedy } = connection;
  return {
    id,
    state,
    role,
    userId,
    login,
    scopes,
    userCode,
    verificationUri,
    expiresAt: expiresAt?.getTime() ?? null,
    remedy,
    createdAt: connection.createdAt.getTime(),
    updatedAt: connection.updatedAt.getTime(),
  };
}
