import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from '@stream-events/service';
import {
  enabled,
  limitReached,
  refused,
  verificationFailed,
  verificationPending,
  waiting,
} from './own-subscription.js';
import { ReconciliationSchedule } from './reconciliation-schedule.repository.js';
import { SubscriptionsRepository } from './subscriptions.repository.js';

// The platform may add statuses without notice, and a metric's labels are a bounded set.
const knownStatuses = [
  waiting,
  limitReached,
  refused,
  enabled,
  verificationPending,
  verificationFailed,
  'notification_failures_exceeded',
  'authorization_revoked',
  'moderator_removed',
  'user_removed',
  'chat_user_banned',
  'version_removed',
  'beta_maintenance',
];

/** What became of something that was to be done on the platform. */
export type ActionResult = 'done' | 'exists' | 'limit_reached' | 'refused' | 'failed' | 'unavailable';

/** Tells how the subscriptions are. */
@Injectable()
export class SubscriptionMetrics {
  private readonly actionsTotal: Counter;

  constructor(
    subscriptions: SubscriptionsRepository,
    reconciliation: ReconciliationSchedule,
    metrics: Registry,
  ) {
    this.actionsTotal = new Counter({
      name: 'platform_subscription_actions_total',
      help: 'What was done to subscriptions on the platform, and revocations received, by result',
      labelNames: ['action', 'result'],
      registers: [metrics],
    });
    new Gauge({
      name: 'platform_subscriptions',
      help: 'Subscriptions by status; every instance tells the same numbers',
      labelNames: ['status'],
      registers: [metrics],
      async collect() {
        this.reset();
        // Nothing while the database is away.
        const counts = await subscriptions.count().catch(() => []);
        for (const { status, count } of counts)
          this.inc({ status: knownStatuses.includes(status) ? status : 'other' }, count);
      },
    });
    new Gauge({
      name: 'platform_subscriptions_reconciled_timestamp_seconds',
      help: 'When the subscriptions were last as they should be, as far as the platform lets them; every instance tells the same',
      registers: [metrics],
      async collect() {
        // The database may be away: then nothing is known.
        const facts = await reconciliation.read().catch(() => undefined);
        this.set((facts?.completedAt ?? Number.NaN) / 1_000);
      },
    });
  }

  note(action: 'create' | 'delete' | 'revocation', result: ActionResult): void {
    this.actionsTotal.inc({ action, result });
  }
}
