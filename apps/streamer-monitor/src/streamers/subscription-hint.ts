import { Inject, Injectable } from '@nestjs/common';
import { reconcileSubscriptions } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { LOGGER, type Logger } from '@stream-events/service';

/** Tells the platform connector that other streamers are monitored than before, so that its subscriptions follow now. */
@Injectable()
export class SubscriptionHint {
  constructor(
    private readonly client: RequestClient,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Returns at once. A hint that gets lost costs a minute: the connector looks by itself. */
  send(): void {
    this.client.request(reconcileSubscriptions, {}).catch((error: unknown) => {
      this.logger.debug({ err: error }, 'the platform connector did not take the hint');
    });
  }
}
