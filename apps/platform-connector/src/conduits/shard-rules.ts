/*
 * The life of a shard, by its status in our records:
 *
 *   unassigned ──claimed──▶ connecting ──session assigned──▶ enabled ──offered: another connector takes it──▶ connecting
 *       ▲                     ▲    ▲                          │    │
 *       │ not listed          │    └── the holder lost it ────┘    │ the platform reports that it is lost
 *       └─────────────────────│──── websocket_disconnected, … ◀────┘
 *                             └── the holder or, after 0.2 s, any other ──┘
 *
 * While the platform reports a shard as enabled, the shard's messages arrive at some connector. Another connector takes an enabled shard
 * only if the holder has offered it, or if the holder's lease has expired and this connector had seen that lease renewed before.
 * `unknown_session`: the shard's session belongs to another installation.
 */

/** A shard of the conduit, as read from the database at one moment. */
export interface Shard {
  id: number;
  /** Null when any connector may take the shard. */
  holder: string | null;
  isExpired: boolean;
  /** Whether the holder has probably died: the database session that renewed its lease has ended. Never true behind a connection pooler. */
  isGone: boolean;
  /** When the lease ends, in milliseconds since 1970. */
  heldUntil: number | null;
  /** The session that serves the shard, or served it last. Null before the first one, and after a stopping holder has closed it. */
  sessionId: string | null;
  /** One of the four statuses below, or the platform's reason why the shard is not enabled. */
  status: string;
  /** How long the shard has had this status, in milliseconds. */
  statusForMs: number;
  /** All messages that arrived before this time are stored or recorded as lost. In milliseconds since 1970; null before the first save. */
  settledUntil: number | null;
}

/** The platform lists the shard without a session, or does not list it. */
export const unassigned = 'unassigned';
/** The holder is opening a session for the shard. */
export const connecting = 'connecting';
export const enabled = 'enabled';
/** Another installation's session serves the shard. */
export const foreign = 'unknown_session';

/** What a connector knows about the shards when it makes a plan. */
export interface ShardView {
  /** The id of the connector that makes the plan. */
  me: string;
  /** The number of connectors that take shards. */
  holders: number;
  shards: readonly Shard[];
  /** The shards for which this connector has an open socket, each with its session. The session is null while the socket has none. */
  open: ReadonlyMap<number, string | null>;
  /** The shards whose lease another connector has renewed since this connector started, which proves that their holders were alive. */
  proven: ReadonlySet<number>;
}

/** What a connector must do with the shards now. */
export interface ShardPlan {
  /** Shards to take, each with a socket that is still open or with a new one. */
  claim: Shard[];
  /** Shards to offer to other connectors. The socket stays open until another connector takes the shard. */
  offer: Shard[];
  /** Shards whose sockets must close, because another connector or installation has the shard, or the shard no longer exists. */
  close: number[];
  /** Shards that need a new socket, because they have none or their socket does not serve them. */
  replace: Shard[];
  /** Whether another connector holds a lost shard, which this connector may soon take. */
  isUrgent: boolean;
  /** Whether to ask the platform which shards are lost, because another holder has probably died. */
  isSuspicious: boolean;
}

// Time during which only the holder may reconnect a lost shard. A live holder notices a loss immediately, but the platform's report may
// reach another connector first.
const graceMs = 200;
// Maximum time for a holder to connect a shard. A welcome and an assignment take a fraction of that time, even with a retry.
const connectMs = 5_000;
// Time during which a connector that already has its share leaves a lost shard without a holder to other connectors.
const patienceMs = 3_000;
// Maximum time for which an unknown session may still be ours. A reconnect can change the session's id, which the holder saves within a
// second.
const foreignMs = 3_000;
// Maximum time for which a listing may omit a new session. The platform lists a new session at once, but the listing may have been
// requested earlier.
const replaceMs = 1_000;

/** Decides what to do with the shards. Other connectors decide at the same time, so each update must check that its row is unchanged. */
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
