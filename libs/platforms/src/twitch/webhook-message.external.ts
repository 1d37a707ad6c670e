import {
  isJsonObject,
  isTextWithin,
  readJsonObject,
  ServiceError,
  type JsonObject,
  type JsonObjectText,
} from '@stream-events/contracts';
import type { MessageHeaders, PlatformMessage } from '../inbound-platform.js';
import type { Condition } from '../outbound-platform.js';
import { subscriptionKey } from '../subscription-key.js';

/** The names of a webhook message's headers (FACTS.md §1.1). */
export const headerNames: MessageHeaders = {
  messageId: 'Twitch-Eventsub-Message-Id',
  timestamp: 'Twitch-Eventsub-Message-Timestamp',
  signature: 'Twitch-Eventsub-Message-Signature',
  type: 'Twitch-Eventsub-Message-Type',
};

// The header names in lower case, as Node stores them. Computed once, because the headers of every message are read.
const keys: MessageHeaders = {
  messageId: headerNames.messageId.toLowerCase(),
  timestamp: headerNames.timestamp.toLowerCase(),
  signature: headerNames.signature.toLowerCase(),
  type: headerNames.type.toLowerCase(),
};

export function readHeaders(headers: Record<string, string | string[] | undefined>): MessageHeaders {
  return {
    messageId: textOf(headers[keys.messageId]),
    timestamp: textOf(headers[keys.timestamp]),
    signature: textOf(headers[keys.signature]),
    type: textOf(headers[keys.type]),
  };
}

/** Converts a subscription type to an event type: `stream.offline` → `stream-offline`. Underscores stay. */
export function toEventType(subscriptionType: string): string {
  return subscriptionType.replaceAll('.', '-');
}

/**
 * Parses the body of a verified message (FACTS.md §1.4).
 *
 * @throws ServiceError `invalid` when the body does not match its message type
 */
export function readMessage(type: string, body: Uint8Array): PlatformMessage {
  return readContent(type, readJsonObject(body));
}

/**
 * Reads the content of a message: the body of a webhook, or the payload of a socket's frame.
 *
 * @throws ServiceError `invalid` when the content does not match its message type
 */
export function readContent(type: string, json: JsonObjectText): PlatformMessage {
  switch (type) {
    case 'webhook_callback_verification':
      return {
        kind: 'challenge',
        challenge: readChallenge(json),
        eventType: readSubscriptionType(json) ?? '',
      };
    case 'notification':
      return {
        kind: 'notification',
        eventType: readEventType(json),
        ...readEventData(json),
        subscription: readSubscription(json),
      };
    case 'revocation':
      return {
        kind: 'revocation',
        eventType: readEventType(json),
        eventData: json.memberText('subscription') ?? '{}',
        data: isJsonObject(json.value.subscription) ? json.value.subscription : {},
      };
    default:
      return { kind: 'other' };
  }
}

function textOf(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}

function readEventType(json: JsonObjectText): string {
  const type = readSubscriptionType(json);
  if (!isTextWithin(type, 1, 255))
    throw ServiceError.onField('subscription.type', 'must be text of 1 to 255 characters');
  return toEventType(type);
}

function readSubscriptionType({ value: { subscription } }: JsonObjectText): string | undefined {
  return isJsonObject(subscription) && typeof subscription.type === 'string' ? subscription.type : undefined;
}

/** Returns the subscription's key, or null for an unreadable subscription, because the message still contains an event. */
function readSubscription({ value: { subscription } }: JsonObjectText): string | null {
  if (!isJsonObject(subscription)) return null;
  const { type, version, condition } = subscription;
  if (typeof type !== 'string' || typeof version !== 'string' || !isCondition(condition)) return null;
  return subscriptionKey({ type, version, condition });
}

function isCondition(value: unknown): value is Condition {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

/** Reads the event exactly as sent. For a batched message, returns one object with all its events. */
function readEventData(json: JsonObjectText): { eventData: string; data: JsonObject } {
  const { event, events } = json.value;
  if (isJsonObject(event)) return { eventData: json.memberText('event') ?? '{}', data: event };
  if (Array.isArray(events))
    return { eventData: `{"events":${json.memberText('events') ?? '[]'}}`, data: { events } };
  throw ServiceError.onField('event', 'must be an object');
}

function readChallenge({ value: { challenge } }: JsonObjectText): string {
  if (typeof challenge !== 'string' || challenge === '')
    throw ServiceError.onField('challenge', 'must be text of at least 1 character');
  return challenge;
}
