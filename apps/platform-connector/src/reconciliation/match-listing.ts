import type { PlatformSubscription } from '@stream-events/platforms';
import {
  enabled,
  isLive,
  observed,
  subscriptionKey,
  vanished,
  type OwnSubscription,
} from '../subscriptions/own-subscription.js';

/** All subscriptions that the platform has for this application. */
export interface Listing {
  /** When the first page was requested, in milliseconds since 1970 by the database's clock. */
  startedAt: number;
  subscriptions: readonly PlatformSubscription[];
}

/** The service's subscriptions, compared with a listing. */
export interface Match {
  own: OwnSubscription[];
  /** Subscriptions that point at this service, or used to, and match no row. */
  strays: PlatformSubscription[];
  /** The cost of live subscriptions that other programs created. */
  foreignCost: number;
}

/**
 * Finds the service's subscriptions in the platform's list by type and condition, among those that point at its callback. A
 * subscription with a known id that points elsewhere was created before the callback changed and is a stray.
 */
export function matchListing(
  own: readonly OwnSubscription[],
  { startedAt, subscriptions }: Listing,
  { callback, now }: { callback: string; now: number },
): Match {
  const ownIds = new Set(own.map(({ subscriptionId }) => subscriptionId));
  const candidates = new Map<string, PlatformSubscription[]>();
  const strays: PlatformSubscription[] = [];
  let foreignCost = 0;
  for (const listed of subscriptions) {
    if (listed.callback === callback) {
      const key = subscriptionKey(listed);
      candidates.set(key, [...(candidates.get(key) ?? []), listed]);
    } else if (ownIds.has(listed.id)) strays.push(listed);
    else if (isLive(listed.status)) foreignCost += listed.cost;
  }
  const matched = own.map((row) => {
    const found = candidates.get(row.key) ?? [];
    candidates.delete(row.key);
    // The subscription was revoked after the listing was requested, so the listing is stale for this row.
    if (row.subscriptionId !== null && row.statusSince >= startedAt) return row;
    const [best, ...others] = [...found].sort((a, b) => rank(a, row) - rank(b, row));
    strays.push(...others);
    if (best) return observed(row, best, now);
    return row.subscriptionId === null ? row : vanished(row, now);
  });
  return { own: matched, strays: [...strays, ...[...candidates.values()].flat()], foreignCost };
}

/** Lower is better: enabled first, then pending. Of two with the same status, the known id is first. */
function rank({ id, status }: PlatformSubscription, { subscriptionId }: OwnSubscription): number {
  const isKnown = id === subscriptionId;
  if (status === enabled) return isKnown ? 0 : 1;
  if (isLive(status)) return isKnown ? 2 : 3;
  return isKnown ? 4 : 5;
}
