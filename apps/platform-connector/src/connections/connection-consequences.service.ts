import { Inject, Injectable } from '@nestjs/common';
import {
  connectionReportSubject,
  createStreamer,
  printConnectionReport,
  ServiceError,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { LOGGER, type Logger } from '@stream-events/service';
import { v7 } from 'uuid';
import { UserGrants } from '../grants/user-grants.service.js';
import { ConnectionsRepository } from './connections.repository.js';

/** What follows from a change of a consent in other parts of the system. */
@Injectable()
export class ConnectionConsequences {
  constructor(
    private readonly client: RequestClient,
    private readonly grants: UserGrants,
    private readonly connections: ConnectionsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Reports a completed connection to the gateways, for their audit log. The report is lost when none of them runs. */
  onConnected(connectionId: string): void {
    this.client.announce(
      connectionReportSubject,
      printConnectionReport({ connectionId, auditEntryId: v7() }),
    );
  }

  /** Subscribes to what a user has granted. */
  async onGranted(userId: string): Promise<void> {
    await this.grants.onGranted(userId);
  }

  /** Checks the consent of users that the platform has ended, so that their connections show it soon. */
  async onRevoked(userIds: readonly string[]): Promise<void> {
    await this.connections.validateUsers(userIds);
    await this.grants.onRevoked(userIds);
  }

  /** Adapts the subscriptions of a user whose connection was removed: a bot account no longer reads the chat. */
  async onRemoved(userId: string): Promise<void> {
    await this.grants.onRevoked([userId]);
  }

  /** Monitors a channel. Returns false when the attempt must be repeated. */
  async monitor(login: string): Promise<boolean> {
    try {
      await this.client.request(createStreamer, {
        platformUsername: login,
        streaming: false,
        disabled: false,
      });
      return true;
    } catch (error) {
      // The streamer is monitored already.
      if (error instanceof ServiceError && error.code === 'conflict') return true;
      this.logger.warn({ err: error, login }, 'cannot monitor a connected channel yet, retrying');
      return false;
    }
  }
}
