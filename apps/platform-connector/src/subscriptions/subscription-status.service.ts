import { Injectable } from '@nestjs/common';
import type { PlatformStatusReply } from '@stream-events/contracts';
import { isLive } from './own-subscription.js';
import { ReconciliationSchedule } from './reconciliation-schedule.repository.js';
import { SubscriptionsRepository } from './subscriptions.repository.js';

/** Reports the subscriptions for the platform's status. */
@Injectable()
export class SubscriptionStatus {
  constructor(
    private readonly subscriptions: SubscriptionsRepository,
    private readonly schedule: ReconciliationSchedule,
  ) {}

  /** Makes no call to the platform. */
  async read(): Promise<Pick<PlatformStatusReply, 'subscriptions' | 'cost' | 'streamers'>> {
    const [counts, facts, subscribed] = await Promise.all([
      this.subscriptions.count(),
      this.schedule.read(),
      this.subscriptions.countSubscribedStreamers(),
    ]);
    const { maxCost: max, foreignCost, monitored } = facts;
    const live = counts.filter(({ status }) => isLive(status));
    const total = live.reduce((sum, { cost }) => sum + cost, foreignCost);
    return {
      subscriptions: Object.fromEntries(counts.map(({ status, count }) => [status, count])),
      cost: max === null ? null : { total, max },
      streamers: { monitored, subscribed, polledOnly: Math.max(monitored - subscribed, 0) },
    };
  }
}
