/*
 * The life of a shard, by its status in our records:
 *
 *   unassigned ──claimed──▶ connecting ──session assigned──▶ enabled ──offered: another connector takes it──▶ connecting
 *       ▲                     ▲    ▲                          │    │
 *       │ not listed          │    └── the holder lost it ────┘    │ the platform reports that it is lost
 *       └─────────────────────│──── websocket_disconnected, … ◀────┘
 *                             └── the holder, or after a moment anybody ──┘
 *
 * While the platform says that a shard is enabled, somebody receives its messages. Another connector takes the shard only when the holder
 * has offered it, or when it has itself seen the holder die. A session that is not ours belongs to another installation: `unknown_session`.
 */

/** A shard of the conduit, at a moment of the database's clock. */
export interface Shard {
  id: number;
  /** Null when any connector may take the shard. */
  holder: string | null;
  /** Whether the holder has not renewed its lease in time. */
  isExpired: boolean;
  /** Whether the holder's database session has ended: probably, it has died. Never true behind a pooler of connections. */
  isGone: boolean;
  /** The end of the lease, in milliseconds since 1970. */
  heldUntil: number | null;
  /** The session that has the shard, or had it last. */
  sessionId: string | null;
  /** `enabled`, one of the others below, or the platform's reason why the shard is not enabled. */
  status: string;
  /** For how long it has had this status, in milliseconds. */
  statusForMs: number;
  /** All messages that had arrived until then are stored, in milliseconds since 1970; null before there were any. */
  settledUntil: number | null;
}

/** The platform does not say that the shard has one of our sessions. */
export const unassigned = 'unassigned';
/** Its holder gets it a session. */
export const connecting = 'connecting';
export const enabled = 'enabled';
/** It has a session that is not ours. */
export const foreign = 'unknown_session';

/** What a connector knows. */
export interface ShardView {
  /** The id of the connector. */
  me: string;
  /** The number of connectors that take shards. */
  holders: number;
  shards: readonly Shard[];
  /** The shards that this connector has an open socket for, with the session that they have; null while there is none. */
  open: ReadonlyMap<number, string | null>;
  /** The shards whose lease has been renewed by another connector while this one ran. */
  proven: ReadonlySet<number>;
}

/** What a connector does about its shards. */
export interface ShardPlan {
  /** To take, with a new socket, or the one that is still open. */
  claim: Shard[];
  /** To let another connector take; the socket stays open until then. */
  offer: Shard[];
  /** Sockets to close, because another connector has the shard. */
  close: number[];
  /** Sockets to replace, because the platform says that they do not serve their shard. */
  replace: Shard[];
  /** Whether a shard may soon be taken because it is lost. */
  isUrgent: boolean;
  /** Whether the platform has to be asked which shards are lost, because a holder has probably died. */
  isSuspicious: boolean;
}

// A holder that is alive reports a loss immediately. The platform reports the loss to some connector, too. That connector must not take the
// shard just because it hears of the loss first.
const graceMs = 200;
// A welcome and an assignment take a fraction of a second, even if one of them has to be repeated.
const connectMs = 5_000;
// After connectors have died, the remaining ones wait this long for their share to grow. Then they take shards beyond their share.
const patienceMs = 3_000;
// A reconnect can give a session another id, which its holder records within a second. Any other unknown session stays.
const foreignMs = 3_000;
// The platform lists a new session at once, but the listing may have been requested before.
const replaceMs = 1_000;

/** Decides what to do about the shards. Every decision is checked again when it is saved, because other connectors decide, too. */
export function planShards({ me, holders, shards, open, proven }: ShardView): ShardPlan {
  const mine = shards.filter(({ holder }) => holder === me);
  const share = Math.ceil(shards.length / Math.max(holders, 1));
  const isSuspicious = shards.some(({ holder, isGone }) => isGone && holder !== me);
  const plan: ShardPlan = { claim: [], offer: [], close: [], replace: [], isUrgent: false, isSuspicious };
  const isForeign = ({ status, statusForMs }: Shard): boolean =>
    status === foreign && statusForMs >= foreignMs;

  let count = mine.length;
  for (const shard of shards) {
    if (shard.holder === me) continue;
    if (isFree(shard, { hasShare: count < share, isProven: proven.has(shard.id) })) {
      plan.claim.push(shard);
      count += 1;
    } else if (isLost(shard)) plan.isUrgent = true;
  }
  if (mine.every(({ status }) => status === enabled)) plan.offer.push(...mine.slice(share));
  plan.offer.push(...mine.filter(isForeign));

  const byId = new Map(shards.map((shard) => [shard.id, shard]));
  for (const [id, sessionId] of open) {
    const shard = byId.get(id);
    const isTaken = shard?.holder !== me && (sessionId === null || shard?.sessionId !== sessionId);
    if (!shard || isForeign(shard) || (isTaken && !plan.claim.includes(shard))) plan.close.push(id);
  }
  for (const shard of mine) {
    const isOurs = shard.status === enabled || shard.status === foreign;
    const isStuck = shard.statusForMs >= (shard.status === connecting ? connectMs : replaceMs);
    const isOpen = open.has(shard.id) && open.get(shard.id) !== null;
    if (!isOurs && isStuck && (isOpen || !open.has(shard.id))) plan.replace.push(shard);
  }
  return plan;
}

function isLost({ holder, status }: Shard): boolean {
  return holder !== null && ![enabled, connecting, foreign].includes(status);
}

function isFree(
  { holder, isExpired, isGone, status, statusForMs }: Shard,
  { hasShare, isProven }: { hasShare: boolean; isProven: boolean },
): boolean {
  switch (status) {
    case foreign:
      return false;
    case enabled:
      return holder === null ? hasShare : isExpired && isProven;
    case connecting:
      return isExpired || isGone || statusForMs >= connectMs;
    default:
      if (holder === null) return hasShare || statusForMs >= patienceMs;
      return isExpired || isGone || statusForMs >= graceMs;
  }
}
