import { randomUUID } from 'node:crypto';
import { BadRequestException, Inject, Injectable, NotFoundException } from '@nestjs/common';
import { DeliveryService, toOutcome, type Outcome } from '../messages/delivery.service.js';
import { createFaultyMessage } from '../messages/faults.js';
import { createMessage, formatTimestamp } from '../messages/message.js';
import { findEventType } from '@stream-events/platforms';
import { costOf, createCondition } from '../subscriptions/event-type.js';
import { channelOf, type Subscription, type SubscriptionView } from '../subscriptions/subscription.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { World } from '../world/world.js';
import type { SendNotificationDto } from './notification.dto.js';
import { composeBody, eventMember, eventsMember, isBatched } from './notification.js';

/** A message sent on request, with the outcome of each copy. */
export interface SentMessage {
  message_id: string;
  timestamp: string;
  /** The raw text that was sent. */
  body: string;
  responses: Outcome[];
}

/**
 * Sends notifications on request, once and without retries, so that the caller sees the status of each response. Does not
 * change the world.
 */
@Injectable()
export class NotificationsService {
  constructor(
    @Inject(World) private readonly world: World,
    @Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService,
    @Inject(DeliveryService) private readonly delivery: DeliveryService,
  ) {}

  async send(request: SendNotificationDto): Promise<SentMessage> {
    checkCombination(request);
    for (const callback of request.callback ?? []) this.delivery.checkCallback(callback);
    const subscription = this.findSubscription(request) ?? createStandIn(request, this.defaultBroadcaster());
    const { view } = subscription;
    const content = {
      type: 'notification',
      subscription: view,
      body: composeBody(view, this.createMember(request, view)),
      secret: request.secret ?? subscription.secret,
      id: request.message_id,
      timestamp: request.timestamp,
    } as const;
    const message = request.fault ? createFaultyMessage(content, request.fault) : createMessage(content);
    const callbacks = request.callback ?? [view.transport.callback];
    const responses = await Promise.all(
      Array.from({ length: request.copies ?? 1 }, (_, index) =>
        this.delivery.send(message, callbacks[index % callbacks.length] ?? view.transport.callback),
      ),
    );
    const { id, timestamp, body } = message;
    return { message_id: id, timestamp, body, responses: responses.map(toOutcome) };
  }

  private findSubscription({
    type,
    broadcaster_user_id,
    callback,
  }: SendNotificationDto): Subscription | undefined {
    const found = this.subscriptions.findEnabled(type, broadcaster_user_id);
    if (!found && !callback) {
      const about = broadcaster_user_id === undefined ? '' : ` for broadcaster ${broadcaster_user_id}`;
      throw new NotFoundException(
        `there is no enabled subscription to ${type}${about}; create one, or set callback`,
      );
    }
    return found;
  }

  private createMember(request: SendNotificationDto, { type, version, condition }: SubscriptionView): string {
    if (request.events) return eventsMember(request.events);
    if (request.event_text !== undefined) return eventMember(request.event_text);
    if (!findEventType(type, version)) {
      if (request.event) return eventMember(JSON.stringify(request.event));
      throw new BadRequestException(`unknown event type ${type}; set event, events, or event_text`);
    }
    const broadcasterId = channelOf(condition) ?? this.defaultBroadcaster();
    const described = this.world.describeEvent({ type, version, broadcasterId, condition }, new Date());
    const event = { ...described.event, ...request.event };
    return isBatched(type) ? eventsMember([event]) : eventMember(JSON.stringify(event));
  }

  private defaultBroadcaster(): string {
    return this.world.channels[0]?.broadcaster.id ?? '';
  }
}

function checkCombination({ event, event_text, events, fault, timestamp }: SendNotificationDto): void {
  if ([event, event_text, events].filter((part) => part !== undefined).length > 1) {
    throw new BadRequestException('event, event_text, and events are mutually exclusive');
  }
  if (fault === 'old_timestamp' && timestamp !== undefined) {
    throw new BadRequestException('timestamp cannot be combined with the fault old_timestamp, which sets it');
  }
}

/** Replaces the missing subscription when the caller gives a callback. */
function createStandIn(request: SendNotificationDto, defaultBroadcaster: string): Subscription {
  const { type, callback, secret, event } = request;
  if (secret === undefined) throw new BadRequestException('secret is required when there is no subscription');
  const row = findEventType(type);
  const named = event?.broadcaster_user_id;
  const broadcasterId =
    request.broadcaster_user_id ?? (typeof named === 'string' ? named : defaultBroadcaster);
  const view = {
    id: randomUUID(),
    status: 'enabled',
    type,
    version: row?.version ?? '1',
    cost: costOf(row),
    condition: createCondition(row, broadcasterId),
    transport: { method: 'webhook', callback: callback?.[0] ?? '' },
    created_at: formatTimestamp(new Date()),
  } as const;
  return { view, secret, clientId: '', sequence: 0, failures: 0 };
}
