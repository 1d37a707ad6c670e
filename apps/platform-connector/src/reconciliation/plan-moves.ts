import type { Condition, PlatformSubscription, SubscriptionTransport } from '@stream-events/platforms';
import {
  enabled,
  isLive,
  observed,
  released,
  type OwnSubscription,
} from '../subscriptions/own-subscription.js';
import {
  failed,
  newMove,
  restarted,
  type SubscriptionMove,
} from '../subscriptions/subscription-moves.repository.js';
import type { TransportKind } from '../subscriptions/own-transports.js';
import type { Action } from './subscription-plan.js';

/*
 * How a subscription moves to another transport, or to the first secret of PLATFORM_WEBHOOK_SECRET. Each step starts from a new listing, so
 * a move continues after a crash at any point:
 *
 *   announced to the events services ──4 s──▶ second subscription created ──▶ enabled ──10 s──▶ end announced ──▶ first one deleted
 *        ▲                                              │ not enabled: deleted         │ no longer enabled
 *        └──────────────── after 1 min … 1 h ───────────┴──────────────────────────────┘
 */

export interface MovesInput {
  /** The wanted subscriptions by priority, already matched with the new listing. */
  rows: readonly OwnSubscription[];
  kindOf: (transport: SubscriptionTransport | null) => TransportKind | undefined;
  /** Whether a second subscription with this condition could be created now. False while the user's socket is not connected. */
  canCreate: (condition: Condition) => boolean;
  /** The second subscriptions, by key. */
  twins: ReadonlyMap<string, PlatformSubscription>;
  /** The keys whose second subscription has failed. */
  failedTwins: ReadonlySet<string>;
  moves: readonly SubscriptionMove[];
  /** How much cost is still available under the platform's limit. */
  room: number;
  now: number;
}

/** The steps of moves, and the actions that they need on the platform. */
export interface MovesPlan {
  save: SubscriptionMove[];
  /** The overlaps whose end must be announced now. In each of them, both subscriptions exist. */
  ending: { move: SubscriptionMove; keptSince: number }[];
  /** The keys of moves that have ended, because at most one of the two subscriptions is left. */
  end: string[];
  actions: Action[];
  /** How many subscriptions are replaced without an overlap, because their secret was removed. */
  replaced: number;
  /** The number of working subscriptions with the wanted transport. */
  moved: number;
  /** The number of working subscriptions. */
  total: number;
}

// The maximum number of simultaneous moves. It limits duplicate deliveries and the size of an announcement (see `maxOverlaps`).
const maxMoves = 500;
// The maximum number of moves before the first subscription with the wanted transport works. Until then, the gateways may still lack the
// new first secret.
const maxProbes = 20;
// Minimum time for which both subscriptions of a move deliver before the end of the overlap is announced. The platform may list a
// subscription as enabled a moment before it delivers. The first subscription covers that moment.
const overlapMs = 10_000;
// Time from the announcement of an end to the end itself. Every events service must know the announced end within this time.
const endNoticeMs = 5_000;
// Minimum time from the announced end to the deletion of the first subscription. The first subscription must still deliver all earlier
// events, even if the platform's clock is behind.
const afterEndMs = 2_000;

const noRoom =
  'The platform’s subscription limit is used up, so there is no room for second subscriptions. Disable a streamer or an event type.';
const notEnabled =
  'The platform did not enable the second subscription. For webhooks, PLATFORM_WEBHOOK_SECRET of all gateways must contain the first secret of the connectors.';

/** Plans the next steps of moving subscriptions, in groups, from other transports to the wanted one. */
export function planMoves(input: MovesInput): MovesPlan {
  const { rows, kindOf, twins, moves } = input;
  const live = rows.filter(({ status }) => isLive(status));
  const moved = live.filter(({ transport }) => kindOf(transport) === 'wanted').length;
  const plan: MovesPlan = {
    save: [],
    ending: [],
    end: [],
    actions: [],
    replaced: 0,
    moved,
    total: live.length,
  };
  const known = new Map(moves.map((move) => [move.key, move]));
  // A subscription with a newer twin moves even if it already has the wanted transport. See `matchListing`.
  const moving = live.filter((row) => kindOf(row.transport) === 'other' || twins.has(row.key));
  const removed = live.filter((row) => kindOf(row.transport) === 'removed');
  for (const row of removed) plan.actions.push(...toDeletion(row, released(row)));
  plan.replaced = removed.length;

  const isProven =
    rows.some((row) => row.status === enabled && kindOf(row.transport) === 'wanted') ||
    [...twins.values()].some(({ status }) => status === enabled);
  let free = (isProven ? maxMoves : maxProbes) - moves.length;
  let room = input.room;
  for (const row of moving) {
    const move = known.get(row.key);
    if (!move) {
      if (free > 0 || twins.has(row.key)) plan.save.push(newMove(row.key));
      free -= 1;
      continue;
    }
    const cost = row.cost ?? 1;
    const step = advance(row, move, { input, hasRoom: cost === 0 || cost <= room });
    if (step.action?.kind === 'create_second') room -= cost;
    if (step.action) plan.actions.push(step.action);
    if (step.ending) plan.ending.push(step.ending);
    else if (step.move !== move) plan.save.push(step.move);
  }
  const stays = new Set(moving.map(({ key }) => key));
  plan.end = moves.map(({ key }) => key).filter((key) => !stays.has(key) && !twins.has(key));
  return plan;
}

function advance(
  row: OwnSubscription,
  move: SubscriptionMove,
  { input, hasRoom }: { input: MovesInput; hasRoom: boolean },
): { move: SubscriptionMove; action?: Action; ending?: MovesPlan['ending'][number] } {
  const { twins, failedTwins, canCreate, now } = input;
  const twin = twins.get(row.key);
  if (twin?.status === enabled) {
    if (move.enabledAt === null) return { move: { ...move, enabledAt: now, attempts: 0, reason: null } };
    if (now - move.enabledAt < overlapMs) return { move };
    if (move.endsAt === null) {
      return { move, ending: { move: { ...move, endsAt: now + endNoticeMs }, keptSince: twin.createdAt } };
    }
    if (now - move.endsAt < afterEndMs) return { move };
    const [action] = toDeletion(row, observed(row, twin, now));
    return { move, ...(action && { action }) };
  }
  // The second subscription is no longer enabled or no longer listed, for example because another program deleted it.
  if (move.endsAt !== null && !failedTwins.has(row.key)) return { move: restarted(move) };
  if (twin) return { move };
  if (failedTwins.has(row.key)) return { move: failed(move, { reason: notEnabled, now }) };
  if (!move.isReady || (move.retryAt !== null && move.retryAt > now)) return { move };
  if (!canCreate(row.condition)) return { move };
  if (!hasRoom) return { move: move.reason === noRoom ? move : { ...move, reason: noRoom } };
  const isClear = move.enabledAt === null && move.reason !== noRoom;
  const next = isClear ? move : { ...move, enabledAt: null, reason: null };
  return { move: next, action: { kind: 'create_second', own: row, cost: row.cost ?? 1 } };
}

function toDeletion(own: OwnSubscription, after: OwnSubscription): Action[] {
  return own.subscriptionId === null
    ? []
    : [{ kind: 'delete', subscriptionId: own.subscriptionId, own, after }];
}
