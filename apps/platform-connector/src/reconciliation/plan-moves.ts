import type { Condition, PlatformSubscription, SubscriptionTransport } from '@stream-events/platforms';
import {
  enabled,
  isLive,
  observed,
  putOff,
  released,
  type OwnSubscription,
} from '../subscriptions/own-subscription.js';
import type { TransportKind } from '../subscriptions/own-transports.js';
import type { Action } from './subscription-plan.js';

/*
 * How a subscription moves to another transport, or to the first secret of PLATFORM_WEBHOOK_SECRET. Each step follows from a new listing
 * alone, so a move continues after a crash at any point:
 *
 *   second subscription created ──▶ listed as enabled ──in two listings──▶ first one deleted
 *        ▲                               │ not enabled: deleted
 *        └───────── after 1 min … 1 h ───┘
 *
 * While both exist, the platform delivers each occurrence twice, under two message ids, and the store keeps both.
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
  /** How much cost is still available under the platform's limit. */
  room: number;
  now: number;
}

/** The steps of moves: the rows to save first, and the actions on the platform. */
export interface MovesPlan {
  update: OwnSubscription[];
  actions: Action[];
  /** How many subscriptions are replaced with a gap, because their secret was removed. */
  replaced: number;
  /** The number of working subscriptions with the wanted transport. */
  moved: number;
  /** The number of working subscriptions. */
  total: number;
}

// The maximum number of second subscriptions before the first subscription with the wanted transport works. Until then, the gateways may
// still lack the new first secret.
const maxProbes = 20;

const noRoom =
  'The platform’s subscription limit is used up, so there is no room for second subscriptions. Disable a streamer or an event type.';
const notEnabled =
  'The platform did not enable the second subscription. For webhooks, PLATFORM_WEBHOOK_SECRET of all gateways must contain the first secret of the connectors.';

/** Plans the next steps of moving subscriptions from other transports to the wanted one. */
export function planMoves(input: MovesInput): MovesPlan {
  const { rows, kindOf, twins } = input;
  const live = rows.filter(({ status }) => isLive(status));
  const ofKind = (kind: TransportKind): OwnSubscription[] =>
    live.filter(({ transport }) => kindOf(transport) === kind);
  const [moved, moving, removed] = [ofKind('wanted'), ofKind('other'), ofKind('removed')];
  const plan: MovesPlan = {
    // These rows need not move anymore, because the wanted transport has changed back.
    update: moved.filter(({ reason }) => reason !== null).map(withoutProblem),
    actions: removed.flatMap((row) => toDeletion(row, released(row))),
    replaced: removed.length,
    moved: moved.length,
    total: live.length,
  };
  const isProven = [...moved, ...twins.values()].some(({ status }) => status === enabled);
  const tried = moving.filter(({ key, retryAt }) => twins.has(key) || retryAt !== null);
  let probes = isProven ? Infinity : maxProbes - tried.length;
  let room = input.room;
  for (const row of moving) {
    const cost = row.cost ?? 1;
    const { after = row, action } = advance(row, input, cost === 0 || cost <= room);
    if (action?.kind === 'create_second') {
      const isNew = row.retryAt === null;
      if (isNew && probes <= 0) continue;
      if (isNew) probes -= 1;
      room -= cost;
    }
    if (after !== row) plan.update.push(after);
    if (action) plan.actions.push(action);
  }
  return plan;
}

function advance(
  row: OwnSubscription,
  { twins, failedTwins, canCreate, now }: MovesInput,
  hasRoom: boolean,
): { after?: OwnSubscription; action?: Action | undefined } {
  const twin = twins.get(row.key);
  if (twin) {
    if (twin.status !== enabled) return {};
    const [action] = toDeletion(row, observed(withoutProblem(row), twin, now));
    // A second listing must confirm the twin, because the platform may list a subscription as enabled a moment before it delivers.
    return { action: action && { ...action, isDoubtful: true } };
  }
  if (failedTwins.has(row.key)) return { after: putOff(row, { reason: notEnabled, now }) };
  if ((row.retryAt !== null && row.retryAt > now) || !canCreate(row.condition)) return {};
  if (!hasRoom) return { after: row.reason === noRoom ? row : { ...row, reason: noRoom } };
  return { action: { kind: 'create_second', own: row, cost: row.cost ?? 1 } };
}

function withoutProblem(row: OwnSubscription): OwnSubscription {
  return { ...row, reason: null, attempts: 0, retryAt: null };
}

function toDeletion(own: OwnSubscription, after: OwnSubscription): (Action & { kind: 'delete' })[] {
  return own.subscriptionId === null
    ? []
    : [{ kind: 'delete', subscriptionId: own.subscriptionId, own, after }];
}
