import { randomUUID } from 'node:crypto';
import {
  BadRequestException,
  ConflictException,
  ForbiddenException,
  GoneException,
  HttpException,
  HttpStatus,
  Inject,
  Injectable,
  NotFoundException,
} from '@nestjs/common';
import { findEventType, type EventType } from '@stream-events/platforms';
import { LOGGER, type Logger } from '@stream-events/service';
import { Grants, type Consent } from '../grants/grants.js';
import { decodeCursor, paginate, type Pagination } from '../http/page-cursor.js';
import { PlatformLimits } from '../limits/platform-limits.js';
import { DeliveryService, isAccepted, type Reply } from '../messages/delivery.service.js';
import { createMessage, formatTimestamp, type Message } from '../messages/message.js';
import type { Condition } from '../world/payloads/scene.js';
import { World, type Audience, type WorldEvent } from '../world/world.js';
import type { CreateSubscriptionDto } from './create-subscription.dto.js';
import { costOf, findConditionFault, isWithdrawn } from './event-type.js';
import type { ListSubscriptionsDto } from './list-subscriptions.dto.js';
import { listRequiredGrants } from './required-grants.js';
import { SubscriptionRegistry } from './subscription-registry.js';
import {
  isLiving,
  usersIn,
  type RevocationStatus,
  type Subscription,
  type SubscriptionView,
} from './subscription.js';

/** Totals of an application. */
export interface SubscriptionTotals {
  total: number;
  total_cost: number;
  max_total_cost: number;
}

/** A list of subscriptions in a response of the platform. */
export interface SubscriptionList extends SubscriptionTotals {
  data: SubscriptionView[];
  pagination?: Pagination;
}

// Per type and condition (docs/platform-facts.md §4.5).
const maxAlike = 3;

/**
 * Subscriptions and their states:
 *
 *     create ──▶ webhook_callback_verification_pending ──challenge answered──▶ enabled ──revoke──▶ <reason>
 *                                    └──not answered──▶ webhook_callback_verification_failed
 */
@Injectable()
export class SubscriptionsService {
  private readonly registry = new SubscriptionRegistry();
  private created = 0;

  constructor(
    @Inject(World) private readonly world: World,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(DeliveryService) private readonly delivery: DeliveryService,
    @Inject(Grants) private readonly grants: Grants,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    grants.changes.on('revoked', (consent) => this.revokeWithout(consent));
  }

  /** Registers a subscription and sends the challenge to its callback without waiting for the response. */
  create(clientId: string, request: CreateSubscriptionDto): SubscriptionView {
    const subscription = this.register(clientId, request);
    void this.verify(subscription); // cannot fail, because a failing callback only changes the status
    return { ...subscription.view };
  }

  /** A page of an application's subscriptions. */
  list(clientId: string, { after, ...filter }: ListSubscriptionsDto): SubscriptionList {
    if (Object.values<unknown>(filter).filter((value) => value !== undefined).length > 1) {
      throw new BadRequestException('status, type, user_id, and subscription_id are mutually exclusive');
    }
    const size = this.limits.current.page_size;
    const page = this.registry.page(clientId, filter, { after: decodeCursor(after), size });
    return { data: page.views, ...this.describe(clientId), pagination: paginate(page.after) };
  }

  describe(clientId: string): SubscriptionTotals {
    return {
      total: this.registry.count(clientId),
      total_cost: this.registry.totalCost(clientId),
      max_total_cost: this.limits.current.max_total_cost,
    };
  }

  remove(clientId: string, id: string): void {
    const subscription = this.registry.find(id);
    if (subscription?.clientId !== clientId) throw new NotFoundException(`there is no subscription ${id}`);
    this.registry.remove(subscription);
    this.logger.info({ subscriptionId: id }, 'subscription deleted');
  }

  /** Revokes a subscription and sends the reason to its callback, once. */
  async revoke(id: string, status: RevocationStatus): Promise<{ message: Message; reply: Reply }> {
    const subscription = this.registry.find(id);
    if (!subscription) throw new NotFoundException(`there is no subscription ${id}`);
    const message = this.end(subscription, status);
    const reply = await this.delivery.send(message, subscription.view.transport.callback);
    this.logger.info({ subscriptionId: id, status, reply: reply.status }, 'subscription revoked');
    return { message, reply };
  }

  /** Revokes a subscription for a reason of the platform, and notifies its callback with retries. */
  revokeUnasked(subscription: Subscription, status: RevocationStatus): void {
    if (!isLiving(subscription.view)) return;
    const message = this.end(subscription, status);
    this.logger.info({ subscriptionId: subscription.view.id, status }, 'subscription revoked');
    void this.delivery.sendWithRetries(() => message, subscription.view.transport.callback); // cannot fail, because a failing callback is only counted
  }

  /** Revokes every subscription whose condition names a removed user. */
  revokeAbout(userId: string): void {
    for (const subscription of this.registry.findAbout(userId)) {
      this.revokeUnasked(subscription, 'user_removed');
    }
  }

  findEnabled(type: string, broadcasterId?: string): Subscription | undefined {
    return this.registry.enabled.findFirst(type, broadcasterId);
  }

  findMatching(happened: WorldEvent): Subscription[] {
    return this.registry.enabled.findMatching(happened);
  }

  audience(): Audience {
    return this.registry.enabled;
  }

  /** Revokes the subscriptions of an application that needed a user who has disconnected it (docs/platform-facts.md §4.8). */
  private revokeWithout({ clientId, userId }: Consent): void {
    for (const subscription of this.registry.findAbout(userId)) {
      const { type, version, condition } = subscription.view;
      const row = findEventType(type, version);
      const isNeeded = row && listRequiredGrants(row, condition).some((grant) => grant.userId === userId);
      if (isNeeded && subscription.clientId === clientId) {
        this.revokeUnasked(subscription, 'authorization_revoked');
      }
    }
  }

  private end(subscription: Subscription, status: RevocationStatus): Message {
    this.registry.setStatus(subscription, status);
    const { view, secret } = subscription;
    const body = JSON.stringify({ subscription: view });
    return createMessage({ type: 'revocation', subscription: view, body, secret });
  }

  private register(clientId: string, request: CreateSubscriptionDto): Subscription {
    const { type, version, transport } = request;
    const { row, condition } = this.checkRequest(request);
    this.checkGrants(clientId, row, condition);
    const hasAuthorized = usersIn(condition).some((userId) =>
      this.grants.hasAuthorized({ clientId, userId }),
    );
    const view: SubscriptionView = {
      id: randomUUID(), // random and never derived from the seed, because receivers remember ids for longer than a simulation runs
      status: 'webhook_callback_verification_pending',
      type,
      version,
      cost: costOf(row, hasAuthorized),
      condition,
      transport: { method: 'webhook', callback: transport.callback },
      created_at: formatTimestamp(new Date()),
    };
    this.makeRoom(clientId, view);
    this.created += 1;
    const { secret } = transport;
    const subscription = { view, secret, clientId, sequence: this.created, failures: 0 };
    this.registry.add(subscription);
    return subscription;
  }

  private checkRequest(request: CreateSubscriptionDto): { row: EventType; condition: Condition } {
    const { type, version, condition, transport, is_batching_enabled } = request;
    if (isWithdrawn(type, version)) {
      throw new GoneException(`version ${version} of subscription type ${type} was withdrawn`);
    }
    const row = findEventType(type, version);
    if (!row) throw new BadRequestException(`unknown subscription type: ${type} version ${version}`);
    this.delivery.checkCallback(transport.callback);
    const fault = findConditionFault(row, condition);
    if (fault !== null) throw new BadRequestException(fault);
    if (type === 'drop.entitlement.grant' && is_batching_enabled !== true) {
      throw new BadRequestException('is_batching_enabled must be true for drop.entitlement.grant');
    }
    const known = condition as Condition; // holds: findConditionFault has checked that every value is text
    const gone = usersIn(known).find((id) => this.world.users.wasRemoved(id));
    if (gone !== undefined) throw new BadRequestException(`there is no user ${gone}`);
    return { row, condition: known };
  }

  /** @throws ForbiddenException when a user has not granted a scope that the type needs (docs/platform-facts.md §4.5) */
  private checkGrants(clientId: string, row: EventType, condition: Condition): void {
    const required = listRequiredGrants(row, condition);
    if (required.every(({ userId, oneOf }) => this.grants.hasOneOf({ clientId, userId }, oneOf))) return;
    throw new ForbiddenException('subscription missing proper authorization');
  }

  /** Rejects duplicates and subscriptions over the limits. Replaces a dead duplicate, so that the list stays bounded. */
  private makeRoom(clientId: string, view: SubscriptionView): void {
    const alike = this.registry.findAlike(clientId, view);
    const living = alike.filter((other) => isLiving(other.view));
    const isTwin = (other: Subscription): boolean =>
      other.view.transport.callback === view.transport.callback;
    const twin = living.find(isTwin);
    if (twin) {
      const message = 'subscription already exists';
      throw new ConflictException({ error: 'Conflict', status: 409, message, id: twin.view.id });
    }
    const { max_total_cost } = this.limits.current;
    const isOverCost = view.cost > 0 && this.registry.totalCost(clientId) + view.cost > max_total_cost;
    if (living.length >= maxAlike || isOverCost) {
      const message = `over the limit: ${maxAlike} subscriptions per type and condition, total cost ${max_total_cost}`;
      throw new HttpException(message, HttpStatus.TOO_MANY_REQUESTS);
    }
    for (const other of alike) if (!living.includes(other) && isTwin(other)) this.registry.remove(other);
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
    // A subscription that was revoked during the challenge stays revoked.
    if (isLiving(view)) {
      this.registry.setStatus(subscription, isVerified ? 'enabled' : 'webhook_callback_verification_failed');
    }
    const facts = { subscriptionId: view.id, type: view.type, status: view.status, reply: reply.status };
    if (isVerified) this.logger.debug(facts, 'subscription verified');
    else this.logger.warn(facts, 'the callback failed the challenge, not enabling the subscription');
  }
}
