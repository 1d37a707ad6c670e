import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, type Logger } from '@stream-events/service';
import { FaultsService } from '../behavior/faults.service.js';
import { ConduitTransport } from '../conduits/conduit.js';
import { channelOf, type Subscription, type SubscriptionView } from '../subscriptions/subscription.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { DeliveryService } from '../transports/delivery.service.js';
import { createEnvelope, type Envelope } from '../transports/message.js';
import type { Transport } from '../transports/transport.js';
import type { WorldEvent } from '../world/world.js';

interface Held {
  send: () => void;
  timer: NodeJS.Timeout;
  isOvertaken: boolean;
}

// Longest time to hold a notification if no other notification follows on the channel. The held one then goes out late, but is not lost.
const maxHoldMs = 2_000;

// Delay between the overtaking notification and the held one, so that they arrive in this order.
const lagMs = 100;

/** Reorders notifications: holds one until the next notification of the same channel has been sent. */
class HeldNotifications {
  /** At most one per channel. */
  private readonly held = new Map<string, Held>();

  pass(channel: string, order: 'in order' | 'after the next', send: () => void): void {
    const earlier = this.held.get(channel);
    if (order === 'after the next' && !earlier) {
      this.held.set(channel, { send, timer: this.releaseIn(maxHoldMs, channel), isOvertaken: false });
      return;
    }
    send();
    if (!earlier || earlier.isOvertaken) return;
    clearTimeout(earlier.timer);
    earlier.isOvertaken = true;
    earlier.timer = this.releaseIn(lagMs, channel);
  }

  private releaseIn(delayMs: number, channel: string): NodeJS.Timeout {
    // unref: the timer must not delay shutdown.
    return setTimeout(() => this.release(channel), delayMs).unref();
  }

  private release(channel: string): void {
    const held = this.held.get(channel);
    if (!held) return;
    this.held.delete(channel);
    held.send();
  }
}

/** Returns the raw JSON text of a notification. Keeps the text of the event unchanged. */
export function composeBody(
  subscription: SubscriptionView,
  name: 'event' | 'events',
  eventText: string,
): string {
  return `{"subscription":${JSON.stringify(subscription)},"${name}":${eventText}}`;
}

// Maximum notifications in flight, to bound memory. Enough for events about 20,000 users with two matching subscriptions each.
const maxWaiting = 40_000;

const warnEveryMs = 10_000;

/** Sends each event to the matching subscriptions, with the transport's retries, and applies the faults of notifications. */
@Injectable()
export class NotificationSender {
  inFlight = 0;
  /** Notifications skipped because callbacks were too slow. */
  missed = 0;
  private missedSinceWarning = 0;
  private lastWarningMs = -Infinity;
  private readonly held = new HeldNotifications();

  constructor(
    @Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService,
    @Inject(DeliveryService) private readonly delivery: DeliveryService,
    @Inject(FaultsService) private readonly faults: FaultsService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Sends the event to every matching subscription, each in its own message. Returns the ids of the conduit shards that send them. The
   * result omits messages that a fault loses, or that are skipped because too many are in flight. A message that a fault delays can still
   * end up on another shard.
   */
  notifyAll(happened: WorldEvent): string[] {
    const text = JSON.stringify(happened.event);
    return this.subscriptions.findMatching(happened).flatMap((subscription) => {
      if (this.inFlight < maxWaiting) return this.notify(subscription, text);
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
    const facts = { missed: this.missedSinceWarning, inFlight: this.inFlight };
    this.logger.warn(facts, 'callbacks are slower than the rate, skipping simulated events');
    this.missedSinceWarning = 0;
    this.lastWarningMs = now;
  }

  private notify({ view, transport }: Subscription, eventText: string): string[] {
    if (this.faults.draw('lose')) return [];
    const body = composeBody(view, 'event', eventText);
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
    this.inFlight += 1;
    const delayMs = this.faults.notificationDelayMs;
    const goesOn = delayMs === 0 || (await this.delivery.waitUnlessClosing(delayMs));
    if (goesOn) await transport.deliver(message);
    this.inFlight -= 1;
  }
}
