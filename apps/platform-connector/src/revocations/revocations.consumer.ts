import { Inject, Injectable } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import { isStorableText } from '@stream-events/contracts';
import {
  DurableConsumer,
  EVENTS_CONNECTION,
  platformEvents,
  type DeliveredMessage,
  type Outcome,
} from '@stream-events/messaging';
import { LOGGER, Registry, type Logger } from '@stream-events/service';
import { ConnectionConsequences } from '../connections/connection-consequences.service.js';
import { ReconciliationSchedule } from '../subscriptions/reconciliation-schedule.repository.js';
import { authorizationRevoked, isLive } from '../subscriptions/own-subscription.js';
import { SubscriptionMetrics } from '../subscriptions/subscription-metrics.js';
import { SubscriptionsRepository } from '../subscriptions/subscriptions.repository.js';
import { readRevocation } from './revocation.external.js';

const maxRetryDelayMs = 30_000;
// How often to log revocations. The platform can revoke thousands of subscriptions within seconds, for example after many deliveries failed.
// One line per revocation would flood the log.
const reportIntervalMs = 5_000;

/**
 * Marks subscriptions that the platform has revoked, so that the reconciler recreates them. All instances share one durable consumer, which
 * keeps revocations while no instance is running. If the stream loses a revocation, the next listing shows the new status.
 *
 * Idempotent by the platform's subscription id, which the platform never reuses.
 */
@Injectable()
export class RevocationsConsumer {
  private readonly consumer: DurableConsumer;
  /** How many subscriptions were revoked since the last log line, by status. */
  private readonly revoked = new Map<string, number>();
  private reportTimer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(EVENTS_CONNECTION) connection: NatsConnection,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly schedule: ReconciliationSchedule,
    private readonly consequences: ConnectionConsequences,
    private readonly metrics: SubscriptionMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
    registry: Registry,
  ) {
    // Handle one message at a time, in stream order.
    const handling = { maxInFlight: 1, handle: (message: DeliveredMessage) => this.onRevocation(message) };
    this.consumer = new DurableConsumer(
      connection,
      {
        ...platformEvents('platform-connector-revocations'),
        handling,
        maxRetryDelayMs,
        metrics: registry,
      },
      logger,
    );
  }

  start(): void {
    this.consumer.start();
  }

  /** Stops after the current message. Waits up to 3 s for it. */
  async stop(): Promise<void> {
    await this.consumer.stop();
    this.report();
  }

  private async onRevocation(message: DeliveredMessage): Promise<Outcome> {
    const revocation = readRevocation(message.string());
    if (!revocation || !isStorableText(revocation.subscriptionId + revocation.status)) return 'done';
    const { subscriptionId, status } = revocation;
    const own = await this.subscriptions.find(subscriptionId);
    if (!own || isLive(status)) return 'done';
    // Record the withdrawn consent first. Once the end is saved, the next round replaces the subscription, and a redelivered message does not
    // find it.
    if (status === authorizationRevoked) await this.consequences.onRevoked(Object.values(own.condition));
    if (await this.subscriptions.saveEnded(subscriptionId, status)) this.count(status);
    await this.schedule.hint();
    return 'done';
  }

  private count(status: string): void {
    this.metrics.increment('revocation', 'done');
    this.revoked.set(status, (this.revoked.get(status) ?? 0) + 1);
    this.reportTimer ??= setTimeout(() => this.report(), reportIntervalMs);
  }

  /** Logs one line with all revocations of the last interval. */
  private report(): void {
    clearTimeout(this.reportTimer);
    this.reportTimer = undefined;
    if (this.revoked.size === 0) return;
    const byStatus = Object.fromEntries(this.revoked);
    this.revoked.clear();
    this.logger.warn(
      { byStatus },
      'the platform revoked subscriptions, recreating those that users still consent to',
    );
  }
}
