import { Injectable } from '@nestjs/common';
import type { PlatformStatusReply, WebhookSecretMessage } from '@stream-events/contracts';
import { isLive } from './own-subscription.js';
import { ReconciliationSchedule } from './reconciliation-schedule.repository.js';
import { SubscriptionMoves } from './subscription-moves.repository.js';
import { SubscriptionsRepository } from './subscriptions.repository.js';
import { WebhookCallbacksReader, type SecretKind } from './webhook-callbacks.js';

/** Reports the subscriptions for the platform's status. */
@Injectable()
export class SubscriptionStatus {
  constructor(
    private readonly subscriptions: SubscriptionsRepository,
    private readonly schedule: ReconciliationSchedule,
    private readonly callbacks: WebhookCallbacksReader,
    private readonly moves: SubscriptionMoves,
  ) {}

  /** Makes no call to the platform. */
  async read(): Promise<Pick<PlatformStatusReply, 'subscriptions' | 'cost' | 'streamers' | 'webhookSecret'>> {
    const [counts, facts, subscribed, webhookSecret] = await Promise.all([
      this.subscriptions.count(),
      this.schedule.read(),
      this.subscriptions.countSubscribedStreamers(),
      this.readWebhookSecret(),
    ]);
    const { maxCost: max, foreignCost, monitored } = facts;
    const live = counts.filter(({ status }) => isLive(status));
    const total = live.reduce((sum, { cost }) => sum + cost, foreignCost);
    return {
      subscriptions: Object.fromEntries(counts.map(({ status, count }) => [status, count])),
      cost: max === null ? null : { total, max },
      streamers: { monitored, subscribed, polledOnly: Math.max(monitored - subscribed, 0) },
      webhookSecret,
    };
  }

  private async readWebhookSecret(): Promise<WebhookSecretMessage | null> {
    const [bySecret, moves, webhook] = await Promise.all([
      this.countBySecret(),
      this.moves.count(),
      this.callbacks.read(),
    ]);
    if (!webhook) return null;
    const { first: moved, other, removed } = bySecret;
    const total = moved + other + removed;
    const canRemoveOthers = webhook.hasOthers && moved === total && moves.count === 0;
    return { moved, total, canRemoveOthers, problem: moves.reason };
  }

  /** Counts the working subscriptions by the secret that signs their messages. */
  async countBySecret(): Promise<Record<SecretKind, number>> {
    const [counts, webhook] = await Promise.all([
      this.subscriptions.countByCallback(),
      this.callbacks.read(),
    ]);
    const bySecret = { first: 0, other: 0, removed: 0 };
    // Callbacks that are not ours belong to another public URL. The next listing replaces them.
    for (const { callback, count } of counts)
      bySecret[webhook?.callbacks.kindOf(callback) ?? 'other'] += count;
    return bySecret;
  }
}
