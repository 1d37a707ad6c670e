import { randomUUID } from 'node:crypto';
import {
  BadRequestException,
  ConflictException,
  HttpException,
  HttpStatus,
  Inject,
  Injectable,
  NotFoundException,
} from '@nestjs/common';
import { LOGGER, type Logger } from '@stream-events/service';
import { DeliveryService, isAccepted, type Reply } from '../messages/delivery.service.js';
import { createMessage, formatTimestamp, type Message } from '../messages/message.js';
import type { EventPayload } from '../world/event-payloads.js';
import type { Audience } from '../world/world.js';
import type { CreateSubscriptionDto } from './create-subscription.dto.js';
import { costOf, findConditionFault, findEventType } from './event-type.js';
import { SubscriptionRegistry } from './subscription-registry.js';
import type { Condition, RevocationStatus, Subscription, SubscriptionView } from './subscription.js';

/** A list of subscriptions as the platform answers it. */
export interface SubscriptionList {
  data: SubscriptionView[];
  total: number;
  total_cost: number;
  max_total_cost: number;
}

// Limits of the platform for an application (docs/platform-facts.md §4.5, §4.6).
const maxTotalCost = 10_000;
const maxAlike = 3;

const livingStatuses = ['enabled', 'webhook_callback_verification_pending'];

/**
 * Subscriptions and their life:
 *
 *     create ──▶ webhook_callback_verification_pending ──challenge answered──▶ enabled ──revoke──▶ <reason>
 *                                    └──not answered──▶ webhook_callback_verification_failed
 */
@Injectable()
export class SubscriptionsService {
  private readonly registry = new SubscriptionRegistry();

  constructor(
    @Inject(DeliveryService) private readonly delivery: DeliveryService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Registers a subscription and sends the challenge to its callback, without waiting for the answer. */
  create(request: CreateSubscriptionDto): SubscriptionView {
    const subscription = this.register(request);
    void this.verify(subscription); // decides a status and cannot fail: a callback that fails is an answer
    return { ...subscription.view };
  }

  list(status?: string): SubscriptionView[] {
    return this.registry.list().filter((view) => status === undefined || view.status === status);
  }

  /** The reply that shows these subscriptions. */
  describe(data: SubscriptionView[]): SubscriptionList {
    const total = this.registry.list().length;
    return { data, total, total_cost: this.registry.totalCost(), max_total_cost: maxTotalCost };
  }

  remove(id: string): void {
    if (!this.registry.remove(id)) throw new NotFoundException(`subscription ${id} was not found`);
    this.logger.info({ subscriptionId: id }, 'subscription deleted');
  }

  /** Ends a subscription and tells its callback why. */
  async revoke(id: string, status: RevocationStatus): Promise<{ message: Message; reply: Reply }> {
    const subscription = this.registry.find(id);
    if (!subscription) throw new NotFoundException(`subscription ${id} was not found`);
    this.registry.setStatus(subscription, status);
    const { view, secret } = subscription;
    const body = JSON.stringify({ subscription: view });
    const message = createMessage({ type: 'revocation', subscription: view, body, secret });
    const reply = await this.delivery.send(message, view.transport.callback);
    this.logger.info({ subscriptionId: id, status, reply: reply.status }, 'subscription revoked');
    return { message, reply };
  }

  findEnabled(type: string, broadcasterId?: string): Subscription | undefined {
    return this.registry.findEnabled(type, broadcasterId);
  }

  findMatching(type: string, event: EventPayload): Subscription[] {
    return this.registry.findMatching(type, event);
  }

  audience(): Audience {
    return this.registry.audience();
  }

  private register({
    type,
    version,
    condition,
    transport,
    is_batching_enabled,
  }: CreateSubscriptionDto): Subscription {
    const row = findEventType(type, version);
    if (!row) throw new BadRequestException(`there is no subscription type ${type} of version ${version}`);
    const fault = findConditionFault(row, condition);
    if (fault !== null) throw new BadRequestException(fault);
    if (type === 'drop.entitlement.grant' && is_batching_enabled !== true) {
      throw new BadRequestException('is_batching_enabled must be true for drop.entitlement.grant');
    }
    const view: SubscriptionView = {
      id: randomUUID(),
      status: 'webhook_callback_verification_pending',
      type,
      version,
      cost: costOf(row),
      condition: condition as Condition, // holds: findConditionFault has seen that every value is text
      transport: { method: 'webhook', callback: transport.callback },
      created_at: formatTimestamp(new Date()),
    };
    this.makeRoom(view);
    const subscription = { view, secret: transport.secret };
    this.registry.add(subscription);
    return subscription;
  }

  /** Refuses a duplicate and what is over the limits; a dead twin gives way, so that the list stays bounded. */
  private makeRoom(view: SubscriptionView): void {
    const alike = this.registry.findAlike(view);
    const living = alike.filter((other) => livingStatuses.includes(other.view.status));
    const { callback } = view.transport;
    const twin = living.find((other) => other.view.transport.callback === callback);
    if (twin) {
      const message = 'subscription already exists';
      throw new ConflictException({ error: 'Conflict', status: 409, message, id: twin.view.id });
    }
    if (living.length >= maxAlike || this.registry.totalCost() + view.cost > maxTotalCost) {
      const message = `at most ${maxAlike} subscriptions of one type and condition, and a total cost of ${maxTotalCost}`;
      throw new HttpException(message, HttpStatus.TOO_MANY_REQUESTS);
    }
    for (const other of alike) {
      const isDeadTwin = !living.includes(other) && other.view.transport.callback === callback;
      if (isDeadTwin) this.registry.remove(other.view.id);
    }
  }

  private async verify(subscription: Subscription): Promise<void> {
    const { view, secret } = subscription;
    const challenge = randomUUID();
    const body = JSON.stringify({ challenge, subscription: view });
    const message = createMessage({
      type: 'webhook_callback_verification',
      subscription: view,
      body,
      secret,
    });
    const reply = await this.delivery.send(message, view.transport.callback);
    const isVerified = isAccepted(reply) && reply.body === challenge;
    this.registry.setStatus(subscription, isVerified ? 'enabled' : 'webhook_callback_verification_failed');
    const facts = { subscriptionId: view.id, type: view.type, status: view.status, reply: reply.status };
    if (isVerified) this.logger.debug(facts, 'subscription verified');
    else this.logger.warn(facts, 'the callback did not answer the challenge');
  }
}
