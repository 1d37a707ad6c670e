import { isDeepStrictEqual } from 'node:util';
import type { Condition, PlatformSubscription, SubscriptionTransport } from '@stream-events/platforms';

/** The service's record of a subscription that is or was wanted. Times are milliseconds since 1970, by the database's clock. */
export interface OwnSubscription {
  id: string;
  /** See `subscriptionKey`. */
  key: string;
  type: string;
  version: string;
  condition: Condition;
  /** The platform's id. Null while no such subscription is known to exist on the platform. */
  subscriptionId: string | null;
  /** The transport; null until the platform has reported it. */
  transport: SubscriptionTransport | null;
  /** See SubscriptionMessage. */
  status: string;
  reason: string | null;
  /** The cost that the platform last reported; null before its first report. */
  cost: number | null;
  /** How many attempts have failed in a row. The pause before the next attempt grows with this number. */
  attempts: number;
  /** The earliest time of the next attempt; null when it may run at any time. */
  retryAt: number | null;
  statusSince: number;
}

export interface Change {
  before: OwnSubscription;
  after: OwnSubscription;
}

export interface RowChanges {
  add: OwnSubscription[];
  update: Change[];
  remove: OwnSubscription[];
}

export const waiting = 'waiting';
export const limitReached = 'limit_reached';
export const refused = 'refused';
export const notGranted = 'not_granted';
export const enabled = 'enabled';
export const authorizationRevoked = 'authorization_revoked';
export const verificationPending = 'webhook_callback_verification_pending';
export const verificationFailed = 'webhook_callback_verification_failed';

/** Whether a subscription with this status delivers messages or is about to. All of the platform's other statuses are final. */
export function isLive(status: string): boolean {
  return status === enabled || status === verificationPending;
}

const minPauseMs = 60_000;
const maxPauseMs = 3_600_000;

/** Returns the pause after this many failures in a row, in milliseconds: 0, 1 min, 2 min, and so on up to 1 h. */
export function pauseAfter(failures: number): number {
  return failures <= 0 ? 0 : Math.min(minPauseMs * 2 ** (failures - 1), maxPauseMs);
}

/** A subscription that worked for at least this long is recreated immediately when it ends. */
export const provenAfterMs = 10 * 60_000;

/** The end of the reason for a subscription that has ended. */
export const recreated = 'The service recreates it if it is still wanted and no consent is missing.';

/*
 * The life of a subscription:
 *
 *   waiting ──created──▶ webhook_callback_verification_pending ──▶ enabled
 *    ▲  │                        │                                   │
 *    │  ├─▶ not_granted          │                                   │
 *    │  │   until the user gives consent                             │
 *    │  ├─▶ refused              │ verification failed               │ revoked, failed, vanished
 *    │  │   retried              ▼                                   ▼
 *    │  │   after 1 min … 1 h   ended: deleted on the platform, then recreated: at once if it had worked for 10 min or
 *    │  ▼                        │          never failed before, or vanished up to 5 times, else after 1 min … 1 h
 *    └ limit_reached             └──created──▶ …
 */

/** Returns the row after the platform has reported the subscription with this status. */
export function observed(
  own: OwnSubscription,
  { id, status, cost, transport }: PlatformSubscription,
  now: number,
): OwnSubscription {
  const isSame = own.subscriptionId === id && own.status === status;
  if (isSame)
    return own.cost === cost && isDeepStrictEqual(own.transport, transport)
      ? own
      : { ...own, cost, transport };
  // The first creation shows that earlier refusals are over. Later on, `attempts` counts how often the subscription was lost.
  const attempts = own.transport === null ? 0 : own.attempts;
  const seen = { ...own, subscriptionId: id, cost, transport, attempts };
  if (!isLive(status))
    return ended(
      seen,
      {
        status,
        reason: `The platform ended the subscription. ${recreated}`,
      },
      now,
    );
  return { ...seen, status, reason: null, retryAt: null, statusSince: now };
}

/** Returns the row after the subscription has ended. Keeps the platform's id as long as the subscription still exists there. */
export function ended(
  own: OwnSubscription,
  { status, reason }: { status: string; reason: string },
  now: number,
): OwnSubscription {
  const isProven = own.status === enabled && now - own.statusSince >= provenAfterMs;
  const failures = isProven ? 0 : own.attempts;
  return {
    ...own,
    status,
    reason,
    attempts: failures + 1,
    retryAt: now + pauseAfter(failures),
    statusSince: now,
  };
}

// How many times in a row to recreate, without a pause, a live subscription that vanished. A simulator loses all subscriptions at each
// restart. Pauses after more attempts end a conflict with a program that deletes the subscriptions.
const patience = 5;

/** Returns the row of a subscription that no longer exists on the platform. */
export function vanished(own: OwnSubscription, now: number): OwnSubscription {
  // It had ended before. Its pause for this failure has already begun.
  if (!isLive(own.status)) return released(own);
  const reason = `The subscription no longer exists on the platform. ${recreated}`;
  const gone = { ...ended(own, { status: waiting, reason }, now), subscriptionId: null };
  return { ...gone, retryAt: now + pauseAfter(gone.attempts - patience) };
}

/** Returns the row after its subscription was deleted on the platform. The service recreates the subscription at `retryAt`. */
export function released(own: OwnSubscription): OwnSubscription {
  return { ...own, subscriptionId: null };
}

/** Returns the row of a subscription for which a user's consent is missing. */
export function withoutConsent(
  own: OwnSubscription,
  { reason, now }: { reason: string; now: number },
): OwnSubscription {
  if (own.status === notGranted && own.reason === reason && own.retryAt === null) return own;
  const statusSince = own.status === notGranted ? own.statusSince : now;
  return { ...own, status: notGranted, reason, retryAt: null, statusSince };
}

/** Returns the row of a subscription to create, because consent was given or because an attempt will show whether it was. */
export function withConsent(own: OwnSubscription, now: number): OwnSubscription {
  if (own.status !== notGranted) return own;
  return { ...own, status: waiting, reason: null, attempts: 0, retryAt: null, statusSince: now };
}

// Pause after a refusal because of missing consent. A message about changed consent causes an attempt at once. No message reports that a
// bot became a moderator, so retry daily.
const deniedPauseMs = 24 * 3_600_000;

/**
 * Returns the row after the platform refused the subscription because consent is missing. The service retries after a day, or when consent
 * changes.
 */
export function denied(
  own: OwnSubscription,
  { reason, now }: { reason: string; now: number },
): OwnSubscription {
  return { ...own, status: notGranted, reason, retryAt: now + deniedPauseMs, statusSince: now };
}

/** Returns the row after the platform refused the subscription or reported that its limit is reached. The service retries later. */
export function turnedDown(
  own: OwnSubscription,
  status: typeof refused | typeof limitReached,
  { reason, now }: { reason: string; now: number },
): OwnSubscription {
  const attempts = own.attempts + 1;
  const statusSince = own.status === status ? own.statusSince : now;
  return { ...own, status, reason, attempts, retryAt: now + pauseAfter(attempts), statusSince };
}

/**
 * Returns the row after an attempt failed that leaves the status unchanged: to create the subscription, or to move it. The service retries
 * after a pause, so that other subscriptions are not delayed.
 */
export function putOff(
  own: OwnSubscription,
  { reason, now }: { reason: string; now: number },
): OwnSubscription {
  const attempts = own.attempts + 1;
  return { ...own, reason, attempts, retryAt: now + pauseAfter(attempts) };
}

/**
 * Returns the row after the platform replied that the subscription already exists. If this service created the subscription, the next
 * listing contains it. If the listing does not contain it, another program created it.
 */
export function alreadyExists(own: OwnSubscription, now: number): OwnSubscription {
  if (own.attempts > 0) {
    const reason = 'Another program has already created a subscription with this type and condition.';
    return turnedDown(own, refused, { reason, now });
  }
  const reason =
    'The subscription already exists on the platform. The service looks for it in the next listing.';
  return { ...turnedDown(own, refused, { reason, now }), status: waiting };
}

/**
 * Returns the row of a subscription whose cost does not fit under the platform's limit.
 *
 * @param pauseMs how long to wait before recreating the subscription, even if there is room earlier; 0 means no wait
 */
export function crowdedOut(own: OwnSubscription, now: number, pauseMs = 0): OwnSubscription {
  const reason =
    'The platform’s subscription limit is used up. Streamers that were added earlier have priority.';
  if (own.status === limitReached && own.subscriptionId === null) return own;
  const retryAt = pauseMs > 0 ? now + pauseMs : null;
  return { ...own, subscriptionId: null, status: limitReached, reason, retryAt, statusSince: now };
}
