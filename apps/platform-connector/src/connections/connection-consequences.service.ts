import { Inject, Injectable } from '@nestjs/common';
import {
  connectionReportSubject,
  createStreamer,
  printConnectionReport,
  ServiceError,
} from '@stream-events/contracts';
import { generateId } from '@stream-events/ingest';
import { RequestClient } from '@stream-events/messaging';
import { LOGGER, type Logger } from '@stream-events/service';
import { UserGrants } from '../grants/user-grants.service.js';
import { ConnectionsRepository } from './connections.repository.js';

/** Tells other parts of the system when a user's consent changes. */
@Injectable()
export class ConnectionConsequences {
  constructor(
    private readonly client: RequestClient,
    private readonly grants: UserGrants,
    private readonly connections: ConnectionsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Reports a completed connection to the gateways, for their audit log. The report is lost when no gateway is running. */
  onConnected(connectionId: string): void {
    this.client.announce(
      connectionReportSubject,
      printConnectionReport({ connectionId, auditEntryId: generateId() }),
    );
  }

  /** Schedules a new listing of the user's grants, and retries the subscriptions that the platform refused. */
  async onGranted(userId: string): Promise<void> {
    await this.grants.onGranted(userId);
  }

  /** Schedules the validation of the users' tokens and a new listing of their grants, so that the service soon notices the withdrawal. */
  async onRevoked(userIds: readonly string[]): Promise<void> {
    await this.connections.validateUsers(userIds);
    await this.grants.onRevoked(userIds);
  }

  /** Schedules a new listing of the user's grants after the connection was removed, for example because a bot no longer reads the chat. */
  async onRemoved(userId: string): Promise<void> {
    await this.grants.onRevoked([userId]);
  }

  /** Starts monitoring a channel as a streamer. Returns false when the attempt must be repeated. */
  async monitor(login: string): Promise<boolean> {
    try {
      await this.client.request(createStreamer, {
        platformUsername: login,
        streaming: false,
        disabled: false,
      });
      return true;
    } catch (error) {
      // The channel is already monitored.
      if (error instanceof ServiceError && error.code === 'conflict') return true;
      this.logger.warn({ err: error, login }, 'cannot monitor a connected channel yet, retrying');
      return false;
    }
  }
}
