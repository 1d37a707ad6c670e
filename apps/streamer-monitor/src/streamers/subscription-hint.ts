import { Inject, Injectable } from '@nestjs/common';
import { reconcileSubscriptions, setStreamerEventTypes } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { LOGGER, type Logger } from '@stream-events/service';

/** Tells the platform connector that streamers have changed, so that it reconciles its subscriptions at once. */
@Injectable()
export class SubscriptionHint {
  constructor(
    private readonly client: RequestClient,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Sends the notification in the background. If the notification is lost, subscriptions follow within 1 min, because the connector also
   * checks every minute.
   */
  send(): void {
    this.client.request(reconcileSubscriptions, {}).catch((error: unknown) => {
      this.logger.debug(
        { err: error },
        'cannot notify the platform connector of changed streamers, it will update the subscriptions within 1 min',
      );
    });
  }

  /** In the background, asks the connector to delete the event types that were chosen for a deleted streamer. */
  sendDeleted(userId: string): void {
    this.forgetChoice(userId).catch((error: unknown) => {
      this.logger.warn(
        { err: error, userId },
        'cannot delete the chosen event types of a deleted streamer, they will apply again if the streamer is added again',
      );
    });
  }

  /**
   * Asks the connector to delete the event types that were chosen for a user.
   *
   * @throws ServiceError `unavailable`
   */
  async forgetChoice(userId: string): Promise<void> {
    await this.client.request(setStreamerEventTypes, { userId, types: null });
  }
}
