import { Inject, Injectable } from '@nestjs/common';
import {
  FailureLog,
  LOGGER,
  readForGauge,
  Registry,
  startAtZero,
  type Counter,
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
import { connectorMetrics } from '../metrics.js';

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
    this.actionsTotal = connectorMetrics.platform_subscription_actions_total.create(metrics);
    startAtZero(this.actionsTotal, [{ action: 'revocation', result: 'done' }]);
    connectorMetrics.platform_subscriptions.create(metrics, async (gauge) => {
      gauge.reset();
      const counts = await readForGauge(gauge, failureLog, () => subscriptions.count());
      for (const { status, count } of counts ?? [])
        gauge.inc({ status: knownStatuses.includes(status) ? status : 'other' }, count);
    });
    connectorMetrics.platform_transport_subscriptions.create(metrics, async (gauge) => {
      gauge.reset();
      const counts = await readForGauge(gauge, failureLog, () => status.countByMethod());
      for (const [transport, count] of Object.entries(counts ?? {})) gauge.set({ transport }, count);
    });
    connectorMetrics.platform_webhook_secret_subscriptions.create(metrics, async (gauge) => {
      gauge.reset();
      const counts = await readForGauge(gauge, failureLog, () => status.countBySecret());
      for (const [secret, count] of Object.entries(counts ?? {})) gauge.set({ secret }, count);
    });
    connectorMetrics.platform_subscriptions_reconciled_timestamp_seconds.create(metrics, async (gauge) => {
      const facts = await readForGauge(gauge, failureLog, () => schedule.read());
      gauge.set((facts?.completedAt ?? Number.NaN) / 1_000);
    });
  }

  increment(action: 'create' | 'delete' | 'revocation', result: ActionResult): void {
    this.actionsTotal.inc({ action, result });
  }
}
