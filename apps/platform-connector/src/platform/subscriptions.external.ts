import { isJsonObject } from '@stream-events/contracts';
import {
  readCount,
  readObject,
  readObjects,
  readOptionalCount,
  readOptionalText,
  readText,
  readTime,
  toStorable,
  type JsonFields,
} from './answer-fields.js';
import { malformed } from './platform-call-error.js';
import type {
  Condition,
  NewSubscription,
  PlatformSubscription,
  PlatformSubscriptionPage,
} from './platform.js';

/** The body of `POST eventsub/subscriptions` (docs/platform-facts.md §4.5). */
export function toSubscriptionBody(wanted: NewSubscription): string {
  const { type, version, condition, callback, secret } = wanted;
  return JSON.stringify({ type, version, condition, transport: { method: 'webhook', callback, secret } });
}

/** The subscription that was made. */
export function readCreatedSubscription(body: unknown): PlatformSubscription {
  const [created] = readObjects(readObject(body, 'the reply to a subscription'), 'data');
  if (!created) throw malformed('the reply to a subscription names none');
  return readSubscription(created);
}

/** The id of the subscription that exists already; older platforms do not say it. */
export function readExistingId(body: unknown): string | null {
  return isJsonObject(body) ? readOptionalText(body, 'id') || null : null;
}

/** `GET eventsub/subscriptions`. One row that cannot be read spoils all: a missing one would be made again. */
export function readSubscriptionPage(body: unknown): PlatformSubscriptionPage {
  const page = readObject(body, 'the list of subscriptions');
  return {
    subscriptions: readObjects(page, 'data').map(readSubscription),
    next: isJsonObject(page.pagination) ? readCursor(page.pagination) : null,
    totalCost: readCount(page, 'total_cost'),
    maxTotalCost: readCount(page, 'max_total_cost'),
  };
}

function readCursor({ cursor }: JsonFields): string | null {
  return typeof cursor === 'string' && cursor !== '' ? cursor : null;
}

function readSubscription(subscription: JsonFields): PlatformSubscription {
  const transport = isJsonObject(subscription.transport) ? subscription.transport : {};
  return {
    id: readText(subscription, 'id'),
    status: readText(subscription, 'status'),
    type: readText(subscription, 'type'),
    version: readText(subscription, 'version'),
    condition: readCondition(subscription.condition),
    cost: readOptionalCount(subscription, 'cost') ?? 0, // some types' examples lack it
    callback: readOptionalText(transport, 'callback') || null,
    createdAt: readTime(subscription, 'created_at'),
  };
}

/** Keys that are not filled in are the same as missing ones: the platform lists them as empty. */
function readCondition(value: unknown): Condition {
  const entries = Object.entries(readObject(value, 'a condition'));
  return Object.fromEntries(
    entries
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '')
      .map(([key, text]) => [toStorable(key), toStorable(text)]),
  );
}
