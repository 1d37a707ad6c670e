import { randomUUID } from 'node:crypto';
import { BadRequestException, Inject, Injectable, NotFoundException } from '@nestjs/common';
import { findEventType } from '@stream-events/platforms';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsObject,
  IsOptional,
  IsUrl,
  Matches,
  MaxLength,
} from 'class-validator';
import { IsFilledText, IsOptionalInteger, IsOptionalText } from '../http/validation.js';
import { costOf, createCondition } from '../subscriptions/event-type.js';
import { channelOf, type Subscription, type SubscriptionView } from '../subscriptions/subscription.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { DeliveryService, type Reply } from '../transports/delivery.service.js';
import {
  createEnvelope,
  createFaultyMessage,
  faults,
  formatTimestamp,
  signMessage,
  type Envelope,
  type Fault,
} from '../transports/message.js';
import { callbackRules, secretPattern, secretRule, type Transport } from '../transports/transport.js';
import { WebhookTransport, type Webhook } from '../transports/transports.service.js';
import { World } from '../world/world.js';
import { composeBody } from './notification-sender.service.js';

// The values become HTTP headers, so allow only visible ASCII.
const headerPattern = /^[\x21-\x7e]{1,255}$/;
const headerRule = { message: '$property must be 1 to 255 visible ASCII characters' };

/** Body of `POST /simulator/notifications`. */
export class SendNotificationDto {
  @IsFilledText()
  @Matches(headerPattern, headerRule)
  type!: string;

  /** Fields to replace in the generated event. */
  @IsOptional()
  @IsObject()
  event?: Record<string, unknown>;

  /** Raw text to send as the event without checks. For big numbers, odd whitespace, or invalid JSON. */
  @IsOptionalText()
  event_text?: string;

  /** Events of a batched type, instead of `event`. */
  @IsOptional()
  @IsArray()
  @IsObject({ each: true })
  events?: Record<string, unknown>[];

  @IsOptional()
  @IsFilledText()
  @MaxLength(255)
  broadcaster_user_id?: string;

  /** Id of an earlier message to send again. */
  @IsOptional()
  @Matches(headerPattern, headerRule)
  message_id?: string;

  /** Need not be a valid timestamp, so that tests can send invalid ones. */
  @IsOptional()
  @Matches(headerPattern, headerRule)
  timestamp?: string;

  /** Number of identical messages to send at the same time. */
  @IsOptionalInteger(1, 100)
  copies?: number;

  @IsOptional()
  @IsIn(faults)
  fault?: Fault;

  /** One URL or a list, instead of the subscription's callback. Copies are distributed over the list. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [value] : value))
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsUrl(callbackRules, { each: true })
  callback?: string[];

  /** Used instead of the subscription's secret. */
  @IsOptional()
  @Matches(secretPattern, secretRule)
  secret?: string;
}

/** Notifications of this type carry a list of events. */
const batchedType = 'drop.entitlement.grant';

export type SentMessage = ReturnType<typeof describeSent>;

/** A message with the function that sends one copy. */
interface Prepared {
  message: Envelope;
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
      body: this.createBody(request, view),
      id: request.message_id,
      timestamp: request.timestamp,
    });
    const webhook = found?.transport instanceof WebhookTransport ? found.transport.webhook : undefined;
    const isSigned = found === undefined || webhook !== undefined || request.callback !== undefined;
    const { message, send } = isSigned
      ? this.prepareRequest(envelope, request, webhook)
      : prepareFrame(envelope, request, found.transport);
    const replies = await Promise.all(Array.from({ length: request.copies ?? 1 }, (_, index) => send(index)));
    return describeSent(message, replies);
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
    const message = fault ? createFaultyMessage(envelope, secret, fault) : signMessage(envelope, secret);
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

  private createBody(request: SendNotificationDto, view: SubscriptionView): string {
    const { type, version, condition } = view;
    if (request.events) return composeBody(view, 'events', JSON.stringify(request.events));
    if (request.event_text !== undefined) return composeBody(view, 'event', request.event_text);
    if (!findEventType(type, version)) {
      if (request.event) return composeBody(view, 'event', JSON.stringify(request.event));
      throw new BadRequestException(`unknown event type ${type}; set event, events, or event_text`);
    }
    const broadcasterId = channelOf(condition) ?? this.defaultBroadcaster();
    const described = this.world.describeEvent({ type, version, broadcasterId, condition }, new Date());
    const event = { ...described.event, ...request.event };
    return type === batchedType
      ? composeBody(view, 'events', JSON.stringify([event]))
      : composeBody(view, 'event', JSON.stringify(event));
  }

  private defaultBroadcaster(): string {
    return this.world.channels[0]?.broadcaster.id ?? '';
  }
}

/**
 * A message that the control API sent, with the exact text, and one response per copy. The body of a response stays hidden, so that nobody
 * can use the simulator as a proxy.
 */
export function describeSent({ id, timestamp, body }: Envelope, replies: Reply[]) {
  const responses = replies.map(({ status, error }) => ({ status, ...(error !== undefined && { error }) }));
  return { message_id: id, timestamp, body, responses };
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
