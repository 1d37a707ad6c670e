import { Inject, Injectable } from '@nestjs/common';
import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  type Consumer,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { durableConsumers, eventsStreamName, isStorableText } from '@stream-events/contracts';
import { within } from '@stream-events/messaging';
import { LOGGER, type Logger, pause } from '@stream-events/service';
import { ReconciliationSchedule } from '../subscriptions/reconciliation-schedule.repository.js';
import { readRevocation } from './revocation.external.js';
import { SubscriptionMetrics } from '../subscriptions/subscription-metrics.js';
import { SubscriptionsRepository } from '../subscriptions/subscriptions.repository.js';

/** Injection token of the connection that revocations are read on. */
export const EVENTS_CONNECTION = Symbol('EVENTS_CONNECTION');

const consumerName = durableConsumers['subscription-revocation'];
const maxMessages = 100;
// A fetch that finds nothing looks whether the consumer is still there.
const fetchMs = 5_000;
const acknowledgeWithinMs = 30_000;
const backoffMs = 2_000;
const requestLimitMs = 2_000;
const stopLimitMs = 3_000;

/**
 * Marks subscriptions that the platform has revoked, and has them made anew. One durable consumer for all instances: what comes while
 * none runs is read afterwards, and what the stream loses is found by the next listing.
 *
 * Idempotent by the platform's subscription id, which is never used again.
 */
@Injectable()
export class RevocationsConsumer {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private consumer: Consumer | undefined;
  private isFailing = false;
  /** How many were revoked since the last line in the log, by status. */
  private readonly revoked = new Map<string, number>();

  constructor(
    @Inject(EVENTS_CONNECTION) private readonly connection: NatsConnection,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly reconciliation: ReconciliationSchedule,
    private readonly metrics: SubscriptionMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  start(): void {
    this.running = this.run();
  }

  /** Stops after the message in hand; what is not acknowledged comes to another instance. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await within(stopLimitMs, this.running);
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        this.consumer ??= await this.ensure();
        const count = await this.consume(this.consumer);
        if (count === 0) await (await this.manage()).consumers.info(eventsStreamName, consumerName);
        if (this.isFailing) this.logger.info('revocations are read again');
        this.isFailing = false;
      } catch (error) {
        this.consumer = undefined;
        await this.backOff(error);
      }
    }
  }

  /** Takes what has come; done when there is enough, nothing for a while, or it is stopped. */
  private async consume(consumer: Consumer): Promise<number> {
    const fetching = await consumer.fetch({ max_messages: maxMessages, expires: fetchMs });
    const stop = (): void => fetching.stop();
    this.stopping.signal.addEventListener('abort', stop);
    if (this.stopping.signal.aborted) stop();
    let count = 0;
    try {
      for await (const message of fetching) {
        count += 1;
        await this.onRevocation(message);
      }
    } finally {
      this.stopping.signal.removeEventListener('abort', stop);
      this.report();
    }
    return count;
  }

  private async onRevocation(message: JsMsg): Promise<void> {
    const revocation = readRevocation(message.string());
    if (revocation && isStorableText(revocation.subscriptionId + revocation.status)) {
      const { subscriptionId, status } = revocation;
      const isOurs = await this.subscriptions.noteEnded(subscriptionId, status);
      if (isOurs) await this.onEnded(status);
    }
    message.ack();
  }

  private async onEnded(status: string): Promise<void> {
    this.metrics.note('revocation', 'done');
    this.revoked.set(status, (this.revoked.get(status) ?? 0) + 1);
    await this.reconciliation.hint();
  }

  /** One line for what came together: an address that nobody reaches ends thousands at once. */
  private report(): void {
    if (this.revoked.size === 0) return;
    const byStatus = Object.fromEntries(this.revoked);
    this.revoked.clear();
    this.logger.warn({ byStatus }, 'the platform has revoked subscriptions: they are made anew');
  }

  private async ensure(): Promise<Consumer> {
    const { consumers } = await this.manage();
    await consumers.add(eventsStreamName, {
      durable_name: consumerName,
      filter_subject: 'events.platform.subscription-revocation.>',
      deliver_policy: DeliverPolicy.All,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(acknowledgeWithinMs),
    });
    return jetstream(this.connection).consumers.get(eventsStreamName, consumerName);
  }

  private manage(): Promise<JetStreamManager> {
    return jetstreamManager(this.connection, { checkAPI: false, timeout: requestLimitMs });
  }

  /** One line when it begins, not one for each try. */
  private async backOff(error: unknown): Promise<void> {
    if (this.stopping.signal.aborted) return;
    if (!this.isFailing)
      this.logger.warn({ err: error }, 'revocations cannot be read: it is tried again until they can');
    this.isFailing = true;
    await pause(backoffMs, this.stopping.signal);
  }
}
