import { isJsonObject, isTextWithin, ServiceError } from '@stream-events/contracts';
import { toEventType } from '../events/event-type.js';
import { readJsonObject, type JsonObjectText } from '../http/json-text.js';

/**
 * The platform's webhook messages as they come over the wire (docs/platform-facts.md §1): the only place that knows their headers
 * and bodies. Unknown fields and values are let through: the platform adds to its messages without notice.
 */
export const messageHeaderPrefix = 'Twitch-Eventsub-Message-';

/** The headers of a message; an absent one is empty and fails verification. */
export interface MessageHeaders {
  messageId: string;
  timestamp: string;
  signature: string;
  type: string;
}

/** What a verified message says. */
export type PlatformMessage =
  | { kind: 'challenge'; challenge: string; eventType: string }
  | { kind: 'notification'; eventType: string; eventData: string }
  | { kind: 'revocation'; eventType: string; eventData: string }
  | { kind: 'other' };

export function readMessageHeaders(headers: Record<string, string | string[] | undefined>): MessageHeaders {
  const read = (name: string): string => {
    const value = headers[name];
    return typeof value === 'string' ? value : '';
  };
  return {
    messageId: read(headerNames.id),
    timestamp: read(headerNames.timestamp),
    signature: read(headerNames.signature),
    type: read(headerNames.type),
  };
}

// As Node writes them; made once, not for every message.
const headerNames = {
  id: `${messageHeaderPrefix}Id`.toLowerCase(),
  timestamp: `${messageHeaderPrefix}Timestamp`.toLowerCase(),
  signature: `${messageHeaderPrefix}Signature`.toLowerCase(),
  type: `${messageHeaderPrefix}Type`.toLowerCase(),
};

/**
 * Reads the body of a verified message.
 *
 * @throws ServiceError `invalid` when it is not what its type promises
 */
export function readMessage(type: string, body: Uint8Array): PlatformMessage {
  const json = readJsonObject(body);
  switch (type) {
    case 'webhook_callback_verification':
      return {
        kind: 'challenge',
        challenge: readChallenge(json),
        eventType: readSubscriptionType(json) ?? '',
      };
    case 'notification':
      return { kind: 'notification', eventType: readEventType(json), eventData: readEventData(json) };
    case 'revocation':
      return {
        kind: 'revocation',
        eventType: readEventType(json),
        eventData: json.memberText('subscription') ?? '{}',
      };
    default:
      return { kind: 'other' };
  }
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

/** The event as it was sent; of a batched message, an object with all of its events. */
function readEventData(json: JsonObjectText): string {
  const { event, events } = json.value;
  if (isJsonObject(event)) return json.memberText('event') ?? '{}';
  if (Array.isArray(events)) return `{"events":${json.memberText('events') ?? '[]'}}`;
  throw ServiceError.onField('event', 'must be an object');
}

function readChallenge({ value: { challenge } }: JsonObjectText): string {
  if (typeof challenge !== 'string' || challenge === '')
    throw ServiceError.onField('challenge', 'must be text');
  return challenge;
}
