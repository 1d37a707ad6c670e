import { Injectable } from '@nestjs/common';
import type { PlatformStatusReply, TransportMessage, WebhookSecretMessage } from '@stream-events/contracts';
import type { TransportMethod } from '@stream-events/platforms';
import { isLive } from './own-subscription.js';
import { ReconciliationSchedule } from './reconciliation-schedule.repository.js';
import { SubscriptionsRepository } from './subscriptions.repository.js';
import { OwnTransportsReader, type SecretKind } from './own-transports.js';

type TransportCounts = Omit<TransportMessage, 'conduit'>;

/** Reports the subscriptions for the platform status. */
@Injectable()
export class SubscriptionStatus {
  constructor(
    private readonly subscriptions: SubscriptionsRepository,
    private readonly schedule: ReconciliationSchedule,
    private readonly transports: OwnTransportsReader,
  ) {}

  /** Reads the status without calling the platform. */
  async read(): Promise<
    Pick<PlatformStatusReply, 'subscriptions' | 'cost' | 'streamers' | 'webhookSecret'> & {
      transport: TransportCounts;
    }
  > {
    const [counts, facts, subscribed, transports] = await Promise.all([
      this.subscriptions.count(),
      this.schedule.read(),
      this.subscriptions.countSubscribedStreamers(),
      this.readTransports(),
    ]);
    const { maxCost: max, foreignCost, monitored } = facts;
    const live = counts.filter(({ status }) => isLive(status));
    const total = live.reduce((sum, { cost }) => sum + cost, foreignCost);
    return {
      subscriptions: Object.fromEntries(counts.map(({ status, count }) => [status, count])),
      cost: max === null ? null : { total, max },
      streamers: { monitored, subscribed, polledOnly: Math.max(monitored - subscribed, 0) },
      ...transports,
    };
  }

  private async readTransports(): Promise<{
    transport: TransportCounts;
    webhookSecret: WebhookSecretMessage | null;
  }> {
    const [counts, transports] = await Promise.all([
      this.subscriptions.countByTransport(),
      this.transports.read(),
    ]);
    const total = counts.reduce((sum, { count }) => sum + count, 0);
    if (!transports)
      return { transport: { method: null, moved: 0, total, problem: null }, webhookSecret: null };
    const { own, method, hasOtherSecrets } = transports;
    const wanted = counts.filter(({ transport }) => own.kindOf(transport) === 'wanted');
    const moved = wanted.reduce((sum, { count }) => sum + count, 0);
    const problem = counts.find((each) => each.problem !== null)?.problem ?? null;
    const canRemoveOthers = hasOtherSecrets && moved === total;
    return {
      transport: { method, moved, total, problem },
      webhookSecret: method === 'webhook' ? { moved, total, canRemoveOthers, problem } : null,
    };
  }

  /** Counts the working subscriptions by the secret that signs their messages. */
  async countBySecret(): Promise<Record<SecretKind, number>> {
    const [counts, transports] = await Promise.all([
      this.subscriptions.countByTransport(),
      this.transports.read(),
    ]);
    const bySecret = { first: 0, other: 0, removed: 0 };
    for (const { transport, count } of counts)
      if (transport?.method === 'webhook')
        // A callback that is not ours belongs to an earlier public URL. After the next listing, the reconciler replaces its subscriptions.
        bySecret[transports?.own.secretKindOf(transport.callback) ?? 'other'] += count;
    return bySecret;
  }

  /** Counts the working subscriptions by transport method. */
  async countByMethod(): Promise<Record<TransportMethod, number>> {
    const byMethod = { webhook: 0, conduit: 0, websocket: 0 };
    for (const { transport, count } of await this.subscriptions.countByTransport())
      if (transport) byMethod[transport.method] += count;
    return byMethod;
  }
}
