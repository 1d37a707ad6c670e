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

  /** Reports a completed connection to the gateways, which add it to their audit log. The report is lost if no gateway is running. */
  onConnected(connectionId: string): void {
    this.client.announce(
      connectionReportSubject,
      printConnectionReport({ connectionId, auditEntryId: generateId() }),
    );
  }

  /** Schedules a new listing of the user's grants. Retries the subscriptions that the platform refused. */
  async onGranted(userId: string): Promise<void> {
    await this.grants.onGranted(userId);
  }

  /**
   * Schedules the validation of the users' tokens and a new listing of their grants. The service then notices soon which consent was
   * withdrawn.
   */
  async onRevoked(userIds: readonly string[]): Promise<void> {
    await this.connections.validateUsers(userIds);
    await this.grants.onRevoked(userIds);
  }

  /**
   * Schedules a new listing of the user's grants after a connection was removed. The grants that subscriptions need may have changed: a
   * removed bot, for example, no longer reads chats.
   */
  async onRemoved(userId: string): Promise<void> {
    await this.grants.onRevoked([userId]);
  }

  /** Starts to monitor a channel as a streamer. Returns false when the caller must retry. */
  async monitor(login: string): Promise<boolean> {
    try {
      await this.client.request(createStreamer, {
        platformUsername: login,
        streaming: false,
        disabled: false,
      });
      return true;
    } catch (error) {
      // A conflict means that the channel is already monitored.
      if (error instanceof ServiceError && error.code === 'conflict') return true;
      this.logger.warn({ err: error, login }, 'cannot monitor a connected channel yet, retrying');
      return false;
    }
  }
}
