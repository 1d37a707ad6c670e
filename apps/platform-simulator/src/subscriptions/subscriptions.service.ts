import { randomUUID } from 'node:crypto';
import { BadRequestException, Inject, Injectable, NotFoundException } from '@nestjs/common';
import { findEventType } from '@stream-events/platforms';
import { LOGGER, type Logger } from '@stream-events/service';
import { PlatformLimits } from '../behavior/platform-limits.js';
import { decodeCursor, paginate, type Pagination } from '../http/request-parameters.js';
import type { Consent } from '../oauth/grants.js';
import type { Owner, TokenOwner } from '../oauth/tokens.js';
import type { Reply } from '../transports/delivery.service.js';
import { createEnvelope, formatTimestamp, type Envelope } from '../transports/message.js';
import type { Transport } from '../transports/transport.js';
import { SocketTransport, WebhookTransport } from '../transports/transports.service.js';
import type { Audience, WorldEvent } from '../world/world.js';
import { listRequiredGrants } from './event-type.js';
import { RequestChecks, type CreateSubscriptionDto } from './request-checks.service.js';
import { makeRoom, maxSocketCost } from './subscription-limits.js';
import { SubscriptionRegistry, type SubscriptionFilter } from './subscription-registry.js';
import { isLiving, type RevocationStatus, type Subscription, type SubscriptionView } from './subscription.js';

/** Totals per application, or per user for user access tokens. */
export interface SubscriptionTotals {
  total: number;
  total_cost: number;
  max_total_cost: number;
}

/** The platform's response to a list request. */
export interface SubscriptionList extends SubscriptionTotals {
  data: SubscriptionView[];
  pagination?: Pagination;
}

/**
 * Creates, lists, and ends subscriptions. Their states by transport:
 *
 *     webhook ──▶ webhook_callback_verification_pending ──challenge answered──▶ enabled ──end──▶ <reason>
 *                                     └──challenge failed──▶ webhook_callback_verification_failed
 *     socket, conduit ────────────────────────────────────────────────────────▶ enabled ──end──▶ <reason>
 */
@Injectable()
export class SubscriptionsService {
  private readonly registry = new SubscriptionRegistry();
  private created = 0;

  constructor(
    @Inject(RequestChecks) private readonly checks: RequestChecks,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Sends the challenge to a webhook without waiting for its response. */
  create(caller: TokenOwner, request: CreateSubscriptionDto): SubscriptionView {
    const { condition, cost, transport } = this.checks.check(caller, request);
    const isWebhook = transport instanceof WebhookTransport;
    const view: SubscriptionView = {
      id: randomUUID(), // random, not derived from the seed: receivers remember ids for longer than a simulation runs
      status: isWebhook ? 'webhook_callback_verification_pending' : 'enabled',
      type: request.type,
      version: request.version,
      cost,
      condition,
      transport: transport.view,
      created_at: formatTimestamp(new Date()),
    };
    const subscription = this.register(caller, view, transport);
    if (transport instanceof SocketTransport) transport.session.claim();
    if (isWebhook) void this.verify(subscription, transport); // never rejects: a failing callback only changes the status
    return { ...view };
  }

  /** A page of the owner's subscriptions. */
  list(owner: Owner, { after, ...filter }: SubscriptionFilter & { after?: string }): SubscriptionList {
    if (Object.values<unknown>(filter).filter((value) => value !== undefined).length > 1) {
      throw new BadRequestException(
        'status, type, user_id, subscription_id, and conduit_id are mutually exclusive',
      );
    }
    const size = this.limits.current.page_size;
    const page = this.registry.page(owner, filter, { after: decodeCursor(after), size });
    return { data: page.views, ...this.describe(owner), pagination: paginate(page.after) };
  }

  describe(owner: Owner): SubscriptionTotals {
    return {
      total: this.registry.list(owner).length,
      total_cost: this.registry.totalCost(owner),
      max_total_cost: this.maxCostOf(owner),
    };
  }

  remove(owner: Owner, id: string): void {
    const subscription = this.registry.find(id);
    if (subscription?.clientId !== owner.clientId || subscription.userId !== owner.userId) {
      throw new NotFoundException(`there is no subscription ${id}`);
    }
    this.registry.remove(subscription);
    this.logger.info({ subscriptionId: id }, 'subscription deleted');
  }

  /** Revokes a subscription. Sends the revocation to the application once, so that the caller sees the reply. */
  async revoke(id: string, status: RevocationStatus): Promise<{ message: Envelope; reply: Reply }> {
    const subscription = this.registry.find(id);
    if (!subscription) throw new NotFoundException(`there is no subscription ${id}`);
    const message = this.end(subscription, status);
    const reply = await subscription.transport.send(message);
    this.logger.info({ subscriptionId: id, status, reply: reply.status }, 'subscription revoked');
    return { message, reply };
  }

  /**
   * Revokes a subscription as the platform itself would: notifies the application with retries. Does nothing if the subscription has ended.
   */
  revokeUnasked(subscription: Subscription, status: RevocationStatus): void {
    if (!isLiving(subscription.view)) return;
    const message = this.end(subscription, status);
    this.logger.info({ subscriptionId: subscription.view.id, status }, 'subscription revoked');
    void subscription.transport.deliver(message); // never rejects: failures are only counted
  }

  /** Revokes the subscriptions that name a removed user. */
  revokeAbout(userId: string): void {
    for (const subscription of this.registry.findAbout(userId)) {
      this.revokeUnasked(subscription, 'user_removed');
    }
  }

  /**
   * Call after a user has disconnected the application. Revokes the subscriptions that need a scope from this user, and those that the
   * user's access token created (FACTS.md §4.8).
   */
  revokeWithout({ clientId, userId }: Consent): void {
    const needing = this.registry.findAbout(userId).filter(({ clientId: owner, view }) => {
      const row = findEventType(view.type, view.version);
      const required = row ? listRequiredGrants(row, view.condition, 'app') : [];
      return owner === clientId && required.some((grant) => grant.userId === userId);
    });
    for (const subscription of [...needing, ...this.registry.list({ clientId, userId })]) {
      this.revokeUnasked(subscription, 'authorization_revoked');
    }
  }

  /**
   * Disables the subscriptions whose socket or conduit is gone, and returns them. Sends no revocation, because there is no transport left.
   */
  disable(owner: Owner, isAffected: (subscription: Subscription) => boolean, status: string): Subscription[] {
    const affected = this.registry
      .list(owner)
      .filter(isAffected)
      .filter(({ view }) => isLiving(view));
    for (const subscription of affected) this.registry.setStatus(subscription, status);
    return affected;
  }

  /** Skips subscriptions that no longer exist. */
  forget(subscriptions: readonly Subscription[]): void {
    for (const subscription of subscriptions) {
      if (this.registry.find(subscription.view.id)) this.registry.remove(subscription);
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

  private register({ clientId, userId }: Owner, view: SubscriptionView, transport: Transport): Subscription {
    const owner = { clientId, userId };
    makeRoom(this.registry, { owner, view, maxCost: this.maxCostOf(owner) });
    this.created += 1;
    const subscription = { ...owner, view, transport, sequence: this.created };
    this.registry.add(subscription);
    return subscription;
  }

  private maxCostOf({ userId }: Owner): number {
    return userId === null ? this.limits.current.max_total_cost : maxSocketCost;
  }

  private end(subscription: Subscription, status: RevocationStatus): Envelope {
    const { view } = subscription;
    this.registry.setStatus(subscription, status);
    return createEnvelope({
      type: 'revocation',
      subscription: view,
      body: JSON.stringify({ subscription: view }),
    });
  }

  private async verify(subscription: Subscription, transport: WebhookTransport): Promise<void> {
    transport.onExhausted = () => this.revokeUnasked(subscription, 'notification_failures_exceeded');
    const { view } = subscription;
    const { isVerified, reply } = await transport.verify({ subscription: view }, view);
    // If the subscription was revoked during the challenge, it stays revoked.
    if (isLiving(view)) {
      this.registry.setStatus(subscription, isVerified ? 'enabled' : 'webhook_callback_verification_failed');
    }
    const facts = { subscriptionId: view.id, type: view.type, status: view.status, reply: reply.status };
    if (isVerified) this.logger.debug(facts, 'subscription verified');
    else this.logger.warn(facts, 'the callback failed the challenge, not enabling the subscription');
  }
}
