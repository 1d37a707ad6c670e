import {
  subscriptionKey,
  type PlatformSubscription,
  type SubscriptionTransport,
} from '@stream-events/platforms';
import {
  enabled,
  isLive,
  observed,
  vanished,
  type OwnSubscription,
} from '../subscriptions/own-subscription.js';
import type { TransportKind } from '../subscriptions/own-transports.js';

export interface Listing {
  /** When the first page was requested, in milliseconds since 1970, by the database's clock. */
  startedAt: number;
  subscriptions: readonly PlatformSubscription[];
}

/** The result of comparing the service's subscriptions with a listing. */
export interface Match {
  own: OwnSubscription[];
  /**
   * The second subscriptions, with the wanted transport, of rows that are moving, by key. Both subscriptions of such a row are live.
   */
  twins: Map<string, PlatformSubscription>;
  /** The keys of rows whose second subscription has failed. That subscription is now a stray. */
  failedTwins: Set<string>;
  /** Subscriptions that deliver or delivered to this service, but that no row needs. */
  strays: PlatformSubscription[];
  /** The total cost of live subscriptions that other programs created. */
  foreignCost: number;
}

// How far in the future the time of a status change may be. A status with a later time is old: the database's clock was set back after the
// change.
const maxAheadMs = 60_000;

type KindOf = (transport: SubscriptionTransport | null) => TransportKind | undefined;

/**
 * Finds the service's subscriptions in the platform's list, by type and condition. Considers only the service's own transports. A
 * subscription with a known id but a transport that is no longer ours is a stray: it dates from an earlier public URL, or from a conduit
 * or session that no longer exists.
 */
export function matchListing(
  own: readonly OwnSubscription[],
  { startedAt, subscriptions }: Listing,
  { kindOf, now }: { kindOf: KindOf; now: number },
): Match {
  const ownIds = new Set(own.map(({ subscriptionId }) => subscriptionId));
  const candidates = new Map<string, PlatformSubscription[]>();
  const match: Match = { own: [], twins: new Map(), failedTwins: new Set(), strays: [], foreignCost: 0 };
  for (const listed of subscriptions) {
    if (kindOf(listed.transport) !== undefined) {
      const key = subscriptionKey(listed);
      candidates.set(key, [...(candidates.get(key) ?? []), listed]);
    } else if (ownIds.has(listed.id)) match.strays.push(listed);
    else if (isLive(listed.status)) match.foreignCost += listed.cost;
  }
  match.own = own.map((row) => {
    const found = candidates.get(row.key) ?? [];
    candidates.delete(row.key);
    // The row's status has changed since the listing was requested, for example by a revocation. The listing is stale for this row.
    if (row.subscriptionId !== null && isBetween(row.statusSince, startedAt, now + maxAheadMs)) return row;
    const { main, twin, hasFailedTwin, others } = choose(found, row, kindOf);
    if (twin) match.twins.set(row.key, twin);
    if (hasFailedTwin) match.failedTwins.add(row.key);
    match.strays.push(...others);
    if (main) return observed(row, main, now);
    return row.subscriptionId === null ? row : vanished(row, now);
  });
  match.strays.push(...[...candidates.values()].flat());
  return match;
}

function isBetween(time: number, from: number, until: number): boolean {
  return from <= time && time <= until;
}

interface Choice {
  main: PlatformSubscription | undefined;
  twin: PlatformSubscription | undefined;
  hasFailedTwin: boolean;
  others: PlatformSubscription[];
}

/**
 * Chooses the subscription of a row and, while the row moves, its twin: the subscription with the wanted transport. Until the first
 * subscription is deleted, the row keeps it.
 */
function choose(found: readonly PlatformSubscription[], row: OwnSubscription, kindOf: KindOf): Choice {
  const sorted = [...found].sort((a, b) => rank(a, row) - rank(b, row));
  const first = (kind: TransportKind): PlatformSubscription | undefined =>
    sorted.find(({ transport }) => kindOf(transport) === kind);
  const [wanted, other, removed] = [first('wanted'), first('other'), first('removed')];
  const isMoving = other !== undefined && isLive(other.status);
  const main = isMoving ? other : (wanted ?? other ?? removed);
  const twin = isMoving && wanted && isLive(wanted.status) ? wanted : undefined;
  const hasFailedTwin = isMoving && wanted !== undefined && !twin;
  const others = found.filter(({ id }) => id !== main?.id && id !== twin?.id);
  return { main, twin, hasFailedTwin, others };
}

/**
 * Ranks a subscription; lower is better. Enabled subscriptions come first, then pending ones, then ended ones. Within each group, the known
 * id comes first.
 */
function rank({ id, status }: PlatformSubscription, { subscriptionId }: OwnSubscription): number {
  const isKnown = id === subscriptionId;
  if (status === enabled) return isKnown ? 0 : 1;
  if (isLive(status)) return isKnown ? 2 : 3;
  return isKnown ? 4 : 5;
}
