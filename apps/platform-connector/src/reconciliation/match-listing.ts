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
  /** When the platform was asked for the first of them, in milliseconds since 1970 by the database's clock. */
  startedAt: number;
  subscriptions: readonly PlatformSubscription[];
}

/** What a listing says about our subscriptions. */
export interface Match {
  own: OwnSubscription[];
  /** Point here, or did, and belong to none of ours. */
  strays: PlatformSubscription[];
  /** What the live subscriptions of others count of the limit. */
  foreignCost: number;
}

/**
 * Finds our subscriptions in the platform's list: by id, else by type and condition among those that point at our callback. One of
 * ours that points elsewhere was made before our address changed: it is a stray.
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
    // It was revoked since the platform was asked: the list is the older word.
    if (row.subscriptionId !== null && row.statusSince >= startedAt) return row;
    const [best, ...others] = [...found].sort((a, b) => rank(a, row) - rank(b, row));
    strays.push(...others);
    if (best) return observed(row, best, now);
    return row.subscriptionId === null ? row : vanished(row, now);
  });
  return { own: matched, strays: [...strays, ...[...candidates.values()].flat()], foreignCost };
}

/** Lower is better: one that works, then one that may, and of two alike the one we know. */
function rank({ id, status }: PlatformSubscription, { subscriptionId }: OwnSubscription): number {
  const isKnown = id === subscriptionId;
  if (status === enabled) return isKnown ? 0 : 1;
  if (isLive(status)) return isKnown ? 2 : 3;
  return isKnown ? 4 : 5;
}
