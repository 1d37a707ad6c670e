import { Injectable } from '@nestjs/common';
import type { PlatformStatusReply } from '@stream-events/contracts';

/** What the status of the platform says about subscriptions. */
@Injectable()
export class SubscriptionStatus {
  /** No subscriptions are kept yet. */
  read(): Promise<Pick<PlatformStatusReply, 'subscriptions' | 'cost' | 'streamers'>> {
    const streamers = { monitored: 0, subscribed: 0, polledOnly: 0 };
    return Promise.resolve({ subscriptions: {}, cost: null, streamers });
  }
}
