import { Inject, Injectable } from '@nestjs/common';
import { createStreamer, ServiceError } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { LOGGER, type Logger } from '@stream-events/service';
import { ReconciliationSchedule } from '../subscriptions/reconciliation-schedule.repository.js';
import { SubscriptionsRepository } from '../subscriptions/subscriptions.repository.js';

/** What follows from a consent in other parts of the system. */
@Injectable()
export class ConnectionConsequences {
  constructor(
    private readonly client: RequestClient,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly schedule: ReconciliationSchedule,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Tries the subscriptions again that the platform refused without the consent. */
  async onGranted(userId: string): Promise<void> {
    await this.subscriptions.retryRefused(userId);
    await this.schedule.hint();
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
