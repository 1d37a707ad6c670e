import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, type Logger } from '@stream-events/service';
import { ConduitTransport } from '../conduits/conduit.transport.js';
import { FaultsService } from '../faults/faults.service.js';
import { DeliveryService } from '../messages/delivery.service.js';
import { createEnvelope, type Envelope } from '../messages/message.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { channelOf, type Subscription } from '../subscriptions/subscription.js';
import type { Transport } from '../transports/transport.js';
import type { WorldEvent } from '../world/world.js';
import { HeldNotifications } from './held-notifications.js';
import { composeBody, eventMember } from './notification.js';

// Maximum notifications in flight, to bound memory. Enough for events about 20,000 users with two matching subscriptions each.
const maxWaiting = 40_000;

const warnEveryMs = 10_000;

/** Sends each event to the matching subscriptions, with the transport's retries, and applies the faults of notifications. */
@Injectable()
export class NotificationSender {
  private waiting = 0;
  private missed = 0;
  private missedSinceWarning = 0;
  private lastWarningMs = -Infinity;
  private readonly held = new HeldNotifications();

  constructor(
    @Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService,
    @Inject(DeliveryService) private readonly delivery: DeliveryService,
    @Inject(FaultsService) private readonly faults: FaultsService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  get inFlight(): number {
    return this.waiting;
  }

  /** Notifications skipped because callbacks were too slow. */
  get missedCount(): number {
    return this.missed;
  }

  /**
   * Sends the event to every matching subscription, each in its own message. Returns the ids of the conduit shards that send them. The
   * result omits messages that a fault loses, or that are skipped because too many are in flight. A message that a fault delays can still
   * end up on another shard.
   */
  notifyAll(happened: WorldEvent): string[] {
    const member = eventMember(JSON.stringify(happened.event));
    return this.subscriptions.findMatching(happened).flatMap((subscription) => {
      if (this.waiting < maxWaiting) return this.notify(subscription, member);
      this.countMissed(1);
      return [];
    });
  }

  /** Logs a warning at most every 10 s. */
  countMissed(count: number): void {
    this.missed += count;
    this.missedSinceWarning += count;
    const now = performance.now();
    if (this.missedSinceWarning === 0 || now - this.lastWarningMs < warnEveryMs) return;
    const facts = { missed: this.missedSinceWarning, inFlight: this.waiting };
    this.logger.warn(facts, 'callbacks are slower than the rate, skipping simulated events');
    this.missedSinceWarning = 0;
    this.lastWarningMs = now;
  }

  private notify({ view, transport }: Subscription, member: string): string[] {
    if (this.faults.draw('lose')) return [];
    const body = composeBody(view, member);
    const message = createEnvelope({ type: 'notification', subscription: view, body });
    const send = (): void => void this.deliver(transport, message); // never rejects: failures are only counted
    const copies = this.faults.draw('duplicate') ? 2 : 1;
    const channel = channelOf(view.condition) ?? '';
    const order = this.faults.draw('reorder') ? 'after the next' : 'in order';
    const shardIds = transport instanceof ConduitTransport ? [transport.shardIdFor(message)] : [];
    this.held.pass(channel, order, () => Array.from({ length: copies }, send));
    return shardIds;
  }

  private async deliver(transport: Transport, message: Envelope): Promise<void> {
    this.waiting += 1;
    const delayMs = this.faults.notificationDelayMs;
    const goesOn = delayMs === 0 || (await this.delivery.waitUnlessClosing(delayMs));
    if (goesOn) await transport.deliver(message);
    this.waiting -= 1;
  }
}
