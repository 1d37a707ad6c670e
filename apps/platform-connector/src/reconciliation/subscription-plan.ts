import type { Condition, PlatformSubscription, SubscriptionTransport } from '@stream-events/platforms';
import { applyConsent } from './apply-consent.js';
import { matchListing, type Listing, type Match } from './match-listing.js';
import { planMoves, type MovesPlan } from './plan-moves.js';
import {
  crowdedOut,
  enabled,
  isLive,
  limitReached,
  refused,
  released,
  verificationFailed,
  waiting,
  type OwnSubscription,
  type RowChanges,
} from '../subscriptions/own-subscription.js';
import type { TransportKind } from '../subscriptions/own-transports.js';
import type { WantedSubscription } from './wanted-subscriptions.js';

export interface PlanInput {
  /** The wanted subscriptions by priority. */
  wanted: readonly WantedSubscription[];
  own: readonly OwnSubscription[];
  /** Null when this round does not list the platform's subscriptions. */
  listing: Listing | null;
  /** The platform's limit on the total cost. Null until the platform has reported it; until then, nothing is created. */
  maxCost: number | null;
  /** The cost of other programs' subscriptions in the last listing. */
  foreignCost: number;
  /** Returns how a transport relates to the wanted transport, or undefined when the transport is not ours. */
  kindOf: (transport: SubscriptionTransport | null) => TransportKind | undefined;
  /** Whether subscriptions with this transport count toward the same limit as new subscriptions. */
  sharesLimit: (transport: SubscriptionTransport | null) => boolean;
  /** Whether a new subscription with this condition has a transport. */
  canCreate: (condition: Condition) => boolean;
  /** Whether subscriptions may move to the wanted transport in this round. Without a listing, none moves. */
  mayMove: boolean;
  now: number;
  newId: () => string;
}

export type Action =
  | { kind: 'create'; own: OwnSubscription; cost: number }
  /** Creates a second subscription with the wanted transport. Leaves the row unchanged; the next listing contains the new subscription. */
  | { kind: 'create_second'; own: OwnSubscription; cost: number }
  /**
   * Deletes a subscription. After the deletion, `after` replaces the row `own`; if `after` is null, the row is removed. `own` is null for a
   * stray, which has no row.
   */
  | {
      kind: 'delete';
      subscriptionId: string;
      own: OwnSubscription | null;
      after: OwnSubscription | null;
      /** Whether the subscription still delivers, and only the listing says that it must go. See `confirmDeletions`. */
      isDoubtful?: boolean;
    };

/** The rows to save first, and the actions to execute after that. */
export interface Plan extends RowChanges {
  /** The actions may run concurrently and in any order: every subset of them stays within the limit. */
  actions: Action[];
  foreignCost: number;
  /** Whether another plan must follow, because the next actions depend on the results of these. */
  isPartial: boolean;
  /** The plan for moves; null when no subscription may move in this round. The other fields include its updates and actions. */
  moves: MovesPlan | null;
}

// The maximum number of creations per round while every verification fails, for example because the callback is unreachable. Other calls
// need the rate budget too.
const maxProbes = 20;

// Pause before the service recreates a subscription that was expected to be free but whose cost did not fit under the limit. Without this
// pause, every round would create and delete the subscription.
const wrongCostPauseMs = 3_600_000;

/** Compares the wanted subscriptions with the platform's, and plans the actions. */
export function planSubscriptions(input: PlanInput): Plan {
  const { wanted, own, listing, kindOf, sharesLimit, canCreate, now, newId } = input;
  const known = new Map(own.map((row) => [row.key, row]));
  const added = wanted.filter(({ key }) => !known.has(key)).map((row) => toOwn(row, newId(), now));
  const all = [...own, ...added];
  const match = listing
    ? matchListing(all, listing, { kindOf, now })
    : withoutListing(all, input.foreignCost);
  const current = new Map(match.own.map((row) => [row.key, row]));

  const { kept, creatable, actions, hasAttempts } = allot(input, current, match.foreignCost);
  const wantedKeys = new Set(wanted.map(({ key }) => key));
  const unwanted = match.own.filter((row) => !wantedKeys.has(row.key));
  const twins = [...match.twins.values()];
  const unwantedTwins = [...match.twins].flatMap(([key, twin]) => (wantedKeys.has(key) ? [] : [twin]));
  const final = new Map([...match.own, ...kept].map((row) => [row.id, row]));
  const ours = match.own.filter(({ subscriptionId }) => subscriptionId !== null);
  const limited = [...match.strays, ...twins, ...ours].filter(({ transport }) => sharesLimit(transport));
  const room = (input.maxCost ?? 0) - match.foreignCost - liveCost(limited);
  const creations = fitting(creatable, room, maxCreations(match.own));
  const rows = wanted.flatMap(({ key }) => final.get(current.get(key)?.id ?? '') ?? []);
  const costs = creations.reduce((sum, action) => sum + ('cost' in action ? action.cost : 0), 0);
  const moves =
    listing && input.mayMove
      ? planMoves({ ...match, kindOf, canCreate, now, rows, room: room - costs })
      : null;
  for (const row of moves?.update ?? []) final.set(row.id, row);
  return {
    add: added.map(({ id }) => final.get(id)).filter((row) => row !== undefined),
    update: own
      .map((before) => ({ before, after: final.get(before.id) ?? before }))
      .filter(({ before, after }) => before !== after),
    remove: unwanted.filter(({ subscriptionId }) => subscriptionId === null),
    actions: [
      ...match.strays.map((stray) => ({ ...toStrayDeletion(stray), isDoubtful: isLive(stray.status) })),
      ...unwantedTwins.map(toStrayDeletion),
      ...unwanted.flatMap((row) => toDeletion(row, null)),
      ...actions,
      ...creations,
      ...(moves?.actions ?? []),
    ],
    foreignCost: match.foreignCost,
    isPartial: hasAttempts && creations.length > 0,
    moves,
  };
}

/**
 * Leaves out doubtful deletions until a second listing gives the same evidence, because a listing can be wrong for a moment.
 *
 * @param suspects the doubtful deletions of the previous listing, by subscription id. Null in a round without a listing, which confirms
 * nothing
 */
export function confirmDeletions(
  actions: readonly Action[],
  suspects: ReadonlySet<string> | null,
): { confirmed: Action[]; suspected: string[] } {
  const isDoubtful = (action: Action): action is Action & { kind: 'delete' } =>
    action.kind === 'delete' && action.isDoubtful === true;
  return {
    confirmed: actions.filter(
      (action) => !isDoubtful(action) || suspects?.has(action.subscriptionId) === true,
    ),
    suspected: actions.filter(isDoubtful).map(({ subscriptionId }) => subscriptionId),
  };
}

function withoutListing(own: OwnSubscription[], foreignCost: number): Match {
  return { own, twins: new Map(), failedTwins: new Set(), strays: [], foreignCost };
}

interface Allotment {
  /** Rows whose status has changed, for example because they now wait or are over the limit. */
  kept: OwnSubscription[];
  /** Subscriptions to create now, by priority. */
  creatable: { own: OwnSubscription; cost: number }[];
  /** Deletions of subscriptions that have ended or no longer fit. */
  actions: Action[];
  /** See `Consented`. */
  hasAttempts: boolean;
}

/** Distributes the room under the limit by priority. Subscriptions that the platform has refused come last. */
function allot(
  { wanted, maxCost, canCreate, now }: PlanInput,
  current: ReadonlyMap<string, OwnSubscription>,
  foreignCost: number,
): Allotment {
  const asFound = wanted.flatMap(({ key, expectedCost, consent }) => {
    const own = current.get(key);
    return own ? [{ own, cost: costOf(own, expectedCost), expectedCost, consent }] : [];
  });
  const { rows, changed, hasAttempts } = applyConsent(asFound, now);
  const inOrder = [
    ...rows.filter(({ own }) => own.status !== refused),
    ...rows.filter(({ own }) => own.status === refused),
  ];
  const result: Allotment = { kept: changed, creatable: [], actions: [], hasAttempts };
  let room = maxCost === null ? Infinity : maxCost - foreignCost;
  for (const { own, cost, expectedCost } of inOrder) {
    const isDue = own.retryAt === null || own.retryAt <= now;
    // Until its retry is due, a refused subscription reserves no room.
    const hasRoom = (cost === 0 || cost <= room) && (own.status !== refused || isDue);
    if (hasRoom) room -= cost;
    if (own.subscriptionId !== null) {
      if (!isLive(own.status)) result.actions.push(...toDeletion(own, released(own)));
      else if (!hasRoom) {
        const after = crowdedOut(own, now, expectedCost === 0 ? wrongCostPauseMs : 0);
        result.actions.push(...toDeletion(own, after).map((deletion) => ({ ...deletion, isDoubtful: true })));
      }
      continue;
    }
    if (!hasRoom) {
      if (own.status !== refused && isDue) result.kept.push(crowdedOut(own, now));
      continue;
    }
    const isRoomNew = own.status === limitReached && isDue;
    const kept = isRoomNew ? { ...own, status: waiting, reason: null, statusSince: now } : own;
    if (isRoomNew) result.kept.push(kept);
    if (isDue && maxCost !== null && canCreate(own.condition)) result.creatable.push({ own: kept, cost });
  }
  return result;
}

/**
 * Returns the platform's cost of a subscription. A deleted subscription keeps its old cost, unless it is now expected to be free because
 * the streamer has connected.
 */
function costOf({ subscriptionId, cost }: OwnSubscription, expectedCost: number): number {
  return subscriptionId === null && expectedCost === 0 ? 0 : (cost ?? expectedCost);
}

/** Returns the creations, by priority, that fit under the limit before any deletion has made room. */
function fitting(
  creatable: readonly { own: OwnSubscription; cost: number }[],
  room: number,
  limit: number,
): Action[] {
  const actions: Action[] = [];
  let left = room;
  for (const { own, cost } of creatable) {
    if (actions.length === limit) break;
    if (cost > Math.max(left, 0)) continue;
    left -= cost;
    actions.push({ kind: 'create', own, cost });
  }
  return actions;
}

function maxCreations(own: readonly OwnSubscription[]): number {
  const hasWorking = own.some(({ status }) => status === enabled);
  const failed = own.reduce((sum, { status }) => sum + Number(status === verificationFailed), 0);
  return !hasWorking && failed >= maxProbes ? maxProbes : Infinity;
}

function liveCost(subscriptions: readonly { status: string; cost: number | null }[]): number {
  return subscriptions.reduce((sum, { status, cost }) => sum + (isLive(status) ? (cost ?? 1) : 0), 0);
}

function toStrayDeletion({ id }: PlatformSubscription): Action {
  return { kind: 'delete', subscriptionId: id, own: null, after: null };
}

function toDeletion(own: OwnSubscription, after: OwnSubscription | null): Action[] {
  if (own.subscriptionId === null) return [];
  return [{ kind: 'delete', subscriptionId: own.subscriptionId, own, after }];
}

function toOwn(wanted: WantedSubscription, id: string, now: number): OwnSubscription {
  const { key, type, version, condition } = wanted;
  const none = { subscriptionId: null, reason: null, cost: null, attempts: 0, retryAt: null };
  return { id, key, type, version, condition, ...none, transport: null, status: waiting, statusSince: now };
}
