import { Inject, Injectable } from '@nestjs/common';
import { ServiceError, type ConnectionMessage } from '@stream-events/contracts';
import { scopesFor } from '@stream-events/platforms';
import { LOGGER, type Logger } from '@stream-events/service';
import { EventTypesService } from '../event-types/event-types.service.js';
import { AuthorizationServer } from './authorization-server.js';
import type { Connection } from './connection.entity.js';
import { ConnectionsRepository } from './connections.repository.js';

// Each one is polled every few seconds.
const maxPending = 10;

/** Starts, lists, and removes connections. */
@Injectable()
export class ConnectionsService {
  constructor(
    private readonly repository: ConnectionsRepository,
    private readonly server: AuthorizationServer,
    private readonly eventTypes: EventTypesService,
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
   * Requests a code for the scopes of the active event types.
   *
   * @throws ServiceError `conflict` when too many codes wait; PlatformUnavailableError
   */
  async start(): Promise<ConnectionMessage> {
    const scopes = scopesFor(await this.eventTypes.active());
    const code = await this.server.requestDeviceCode(scopes);
    // requestDeviceCode has thrown if there is no client id.
    const connection = await this.repository.add(
      { clientId: this.server.clientId ?? '', scopes, code },
      maxPending,
    );
    if (connection) return toMessage(connection);
    throw new ServiceError(
      'conflict',
      `${maxPending} connections wait for consent already. Wait until they expire, or delete one.`,
    );
  }

  /** @throws ServiceError `not_found` */
  async remove(id: string): Promise<void> {
    const connection = (await this.repository.remove(id)) ?? missing(id);
    const tokens = this.repository.tokensOf(connection);
    if (!tokens) return;
    // The tokens are gone from here in any case, and nobody can try again.
    await this.server.revoke(tokens.accessToken).catch((error: unknown) => {
      this.logger.warn(
        { err: error, connectionId: id },
        'cannot revoke the token of a removed connection. The user can disconnect the application on the platform',
      );
    });
  }
}

function missing(id: string): never {
  throw new ServiceError('not_found', `Connection ${id} does not exist.`);
}

function toMessage(connection: Connection): ConnectionMessage {
  const { id, state, userId, login, scopes, userCode, verificationUri, expiresAt, remedy } = connection;
  return {
    id,
    state,
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
