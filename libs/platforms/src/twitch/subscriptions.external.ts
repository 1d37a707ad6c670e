import { isJsonObject, type JsonObject } from '@stream-events/contracts';
import {
  readCount,
  readObject,
  readObjects,
  readOptionalCount,
  readOptionalText,
  readText,
  toStorable,
} from '../reply-fields.js';
import type {
  Condition,
  NewSubscription,
  NewTransport,
  PlatformSubscription,
  PlatformSubscriptionPage,
  SubscriptionTransport,
} from '../outbound-platform.js';
import { malformed } from '../platform-call-error.js';

/** Returns the body of `POST eventsub/subscriptions` (FACTS.md §4.5). */
export function toSubscriptionBody(wanted: NewSubscription): string {
  const { type, version, condition, transport } = wanted;
  return JSON.stringify({ type, version, condition, transport: toTransport(transport) });
}

function toTransport(transport: NewTransport): Record<string, string> {
  switch (transport.method) {
    case 'webhook':
      return { method: 'webhook', callback: transport.callback, secret: transport.secret };
    case 'conduit':
      return { method: 'conduit', conduit_id: transport.conduitId };
    case 'websocket':
      return { method: 'websocket', session_id: transport.sessionId };
  }
}

/** Reads the created subscription from the reply. */
export function readCreatedSubscription(body: unknown): PlatformSubscription {
  const [created] = readObjects(readObject(body, 'the reply about a subscription'), 'data');
  if (!created) throw malformed('`data` contains no subscription');
  return readSubscription(created);
}

/** Reads the id of the existing subscription from a 409 reply. Returns null when the reply does not contain it. */
export function readExistingId(body: unknown): string | null {
  return isJsonObject(body) ? readOptionalText(body, 'id') || null : null;
}

/**
 * Reads the reply to `GET eventsub/subscriptions`. One malformed row fails the whole page: if it were skipped, the service would create
 * that subscription again.
 */
export function readSubscriptionPage(body: unknown): PlatformSubscriptionPage {
  const page = readObject(body, 'the list of subscriptions');
  return {
    subscriptions: readObjects(page, 'data').map(readSubscription),
    next: isJsonObject(page.pagination) ? readCursor(page.pagination) : null,
    totalCost: readCount(page, 'total_cost'),
    maxTotalCost: readCount(page, 'max_total_cost'),
  };
}

function readCursor({ cursor }: JsonObject): string | null {
  return typeof cursor === 'string' && cursor !== '' ? cursor : null;
}

function readSubscription(subscription: JsonObject): PlatformSubscription {
  return {
    id: readText(subscription, 'id'),
    status: readText(subscription, 'status'),
    type: readText(subscription, 'type'),
    version: readText(subscription, 'version'),
    condition: readCondition(subscription.condition),
    cost: readOptionalCount(subscription, 'cost') ?? 0, // missing in the documentation's examples of some types
    transport: isJsonObject(subscription.transport) ? readTransport(subscription.transport) : null,
  };
}

/** Returns null when the method is unknown, or when the callback, conduit, or session is missing. */
export function readTransport(transport: JsonObject): SubscriptionTransport | null {
  const callback = readOptionalText(transport, 'callback');
  const conduitId = readOptionalText(transport, 'conduit_id');
  const sessionId = readOptionalText(transport, 'session_id');
  const { method } = transport;
  if (method === 'webhook' && callback !== '') return { method, callback };
  if (method === 'conduit' && conduitId !== '') return { method, conduitId };
  return method === 'websocket' && sessionId !== '' ? { method, sessionId } : null;
}

/** Drops empty values. Twitch also lists the keys that a condition does not use, as empty texts. */
function readCondition(value: unknown): Condition {
  const entries = Object.entries(readObject(value, 'a condition'));
  return Object.fromEntries(
    entries
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '')
      .map(([key, text]) => [toStorable(key), toStorable(text)]),
  );
}
