import { Inject, Injectable } from '@nestjs/common';
import {
  Counter,
  FailureLog,
  Gauge,
  LOGGER,
  readForGauge,
  Registry,
  startAtZero,
  type Logger,
} from '@stream-events/service';
import {
  authorizationRevoked,
  enabled,
  limitReached,
  notGranted,
  refused,
  verificationFailed,
  verificationPending,
  waiting,
} from './own-subscription.js';
import { ReconciliationSchedule } from './reconciliation-schedule.repository.js';
import { SubscriptionStatus } from './subscription-status.service.js';
import { SubscriptionsRepository } from './subscriptions.repository.js';

// The statuses that are metric labels. All others count as `other`: the platform may add statuses without notice, and labels must come from
// a bounded set.
const knownStatuses = [
  waiting,
  limitReached,
  refused,
  notGranted,
  enabled,
  verificationPending,
  verificationFailed,
  'notification_failures_exceeded',
  authorizationRevoked,
  'moderator_removed',
  'user_removed',
  'chat_user_banned',
  'version_removed',
  'beta_maintenance',
];

/** The result of an action on the platform, as a metric label. */
export type ActionResult = 'done' | 'exists' | 'limit_reached' | 'refused' | 'failed' | 'unavailable';

@Injectable()
export class SubscriptionMetrics {
  private readonly actionsTotal: Counter;

  constructor(
    subscriptions: SubscriptionsRepository,
    schedule: ReconciliationSchedule,
    status: SubscriptionStatus,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
  ) {
    const failureLog = new FailureLog(logger);
    this.actionsTotal = new Counter({
      name: 'platform_subscription_actions_total',
      help: 'Subscription actions on the platform and received revocations, by result',
      labelNames: ['action', 'result'],
      registers: [metrics],
    });
    startAtZero(this.actionsTotal, [{ action: 'revocation', result: 'done' }]);
    new Gauge({
      name: 'platform_subscriptions',
      help: 'Subscriptions by status; every instance reports the same values',
      labelNames: ['status'],
      registers: [metrics],
      async collect() {
        this.reset();
        const counts = await readForGauge(this, failureLog, () => subscriptions.count());
        for (const { status, count } of counts ?? [])
          this.inc({ status: knownStatuses.includes(status) ? status : 'other' }, count);
      },
    });
    new Gauge({
      name: 'platform_transport_subscriptions',
      help: 'Working subscriptions by transport: webhook, conduit, or websocket; every instance reports the same values',
      labelNames: ['transport'],
      registers: [metrics],
      async collect() {
        this.reset();
        const counts = await readForGauge(this, failureLog, () => status.countByMethod());
        for (const [transport, count] of Object.entries(counts ?? {})) this.set({ transport }, count);
      },
    });
    new Gauge({
      name: 'platform_webhook_secret_subscriptions',
      help: 'Working subscriptions by the webhook secret that signs their messages: the first secret in PLATFORM_WEBHOOK_SECRET, another secret in it, or a removed secret; every instance reports the same values',
      labelNames: ['secret'],
      registers: [metrics],
      async collect() {
        this.reset();
        const counts = await readForGauge(this, failureLog, () => status.countBySecret());
        for (const [secret, count] of Object.entries(counts ?? {})) this.set({ secret }, count);
      },
    });
    new Gauge({
      name: 'platform_subscriptions_reconciled_timestamp_seconds',
      help: 'Time of the last round that left nothing to reconcile; every instance reports the same value',
      registers: [metrics],
      async collect() {
        const facts = await readForGauge(this, failureLog, () => schedule.read());
        this.set((facts?.completedAt ?? Number.NaN) / 1_000);
      },
    });
  }

  increment(action: 'create' | 'delete' | 'revocation', result: ActionResult): void {
    this.actionsTotal.inc({ action, result });
  }
}
