import { randomUUID } from 'node:crypto';
import { BadRequestException, Inject, Injectable, NotFoundException } from '@nestjs/common';
import { DeliveryService, toOutcome, type Outcome, type Reply } from '../messages/delivery.service.js';
import { createFaultyMessage } from '../messages/faults.js';
import { createEnvelope, createMessage, formatTimestamp, type Envelope } from '../messages/message.js';
import { findEventType } from '@stream-events/platforms';
import { costOf, createCondition } from '../subscriptions/event-type.js';
import { channelOf, type Subscription, type SubscriptionView } from '../subscriptions/subscription.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import type { Transport } from '../transports/transport.js';
import { WebhookTransport, type Webhook } from '../transports/webhook.transport.js';
import { World } from '../world/world.js';
import type { SendNotificationDto } from './notification.dto.js';
import { composeBody, eventMember, eventsMember, isBatched } from './notification.js';

/** A message that the control API sent, with one response per copy. */
export interface SentMessage {
  message_id: string;
  timestamp: string;
  /** The exact text that was sent. */
  body: string;
  responses: Outcome[];
}

/** A message with the function that sends one copy. */
interface Prepared {
  message: Pick<Envelope, 'id' | 'timestamp' | 'body'>;
  send: (index: number) => Promise<Reply>;
}

/**
 * Sends single notifications for the control API. Does not retry, so that the caller sees each response. Does not change the simulated
 * world.
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
    const found = this.findSubscription(request);
    const view = found?.view ?? createStandIn(request, this.defaultBroadcaster());
    const envelope = createEnvelope({
      type: 'notification',
      subscription: view,
      body: composeBody(view, this.createMember(request, view)),
      id: request.message_id,
      timestamp: request.timestamp,
    });
    const webhook = found?.transport instanceof WebhookTransport ? found.transport.webhook : undefined;
    const isSigned = found === undefined || webhook !== undefined || request.callback !== undefined;
    const { message, send } = isSigned
      ? this.prepareRequest(envelope, request, webhook)
      : prepareFrame(envelope, request, found.transport);
    const replies = await Promise.all(Array.from({ length: request.copies ?? 1 }, (_, index) => send(index)));
    const { id, timestamp, body } = message;
    return { message_id: id, timestamp, body, responses: replies.map(toOutcome) };
  }

  /** Uses the callbacks and secret of the request, or those of the webhook. Distributes copies over the callbacks. */
  private prepareRequest(
    envelope: Envelope,
    { callback, secret: givenSecret, fault }: SendNotificationDto,
    webhook: Webhook | undefined,
  ): Prepared {
    const callbacks = callback ?? (webhook ? [webhook.callback] : []);
    for (const url of callbacks) this.delivery.checkCallback(url);
    const secret = givenSecret ?? webhook?.secret;
    if (secret === undefined)
      throw new BadRequestException('secret is required when there is no webhook subscription');
    const content = { ...envelope, secret };
    const message = fault ? createFaultyMessage(content, fault) : createMessage(content);
    return {
      message,
      send: (index) => this.delivery.send(message, callbacks[index % callbacks.length] ?? ''),
    };
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

/** For sockets and conduits. @throws BadRequestException if the request sets a fault or a secret, which only webhooks support */
function prepareFrame(
  message: Envelope,
  { fault, secret }: SendNotificationDto,
  transport: Transport,
): Prepared {
  if (fault !== undefined || secret !== undefined) {
    throw new BadRequestException(
      'fault and secret apply to webhooks only; set callback to send to a webhook',
    );
  }
  return { message, send: () => transport.send(message) };
}

/** Creates a temporary subscription, for a request that sets a callback when no enabled subscription exists. */
function createStandIn(request: SendNotificationDto, defaultBroadcaster: string): SubscriptionView {
  const { type, callback, event } = request;
  const row = findEventType(type);
  const named = event?.broadcaster_user_id;
  const broadcasterId =
    request.broadcaster_user_id ?? (typeof named === 'string' ? named : defaultBroadcaster);
  return {
    id: randomUUID(),
    status: 'enabled',
    type,
    version: row?.version ?? '1',
    cost: costOf(row),
    condition: createCondition(row, broadcasterId),
    transport: { method: 'webhook', callback: callback?.[0] ?? '' },
    created_at: formatTimestamp(new Date()),
  };
}
