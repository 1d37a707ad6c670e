import type { Condition, PlatformSubscription } from '@stream-events/platforms';

/** A subscription that is wanted, or was, as it is kept here. Times are milliseconds since 1970 by the database's clock. */
export interface OwnSubscription {
  id: string;
  /** See `subscriptionKey`. */
  key: string;
  type: string;
  version: string;
  condition: Condition;
  /** The platform's id; null while the platform has none, as far as is known. */
  subscriptionId: string | null;
  /** See SubscriptionMessage. */
  status: string;
  reason: string | null;
  /** What the platform last said that it counts of the limit; null while it has said nothing. */
  cost: number | null;
  /** How often it failed in a row: pauses grow with it. */
  attempts: number;
  /** Not to be created before; null: at any time. */
  retryAt: number | null;
  statusSince: number;
}

export const waiting = 'waiting';
export const limitReached = 'limit_reached';
export const refused = 'refused';
export const enabled = 'enabled';
export const verificationPending = 'webhook_callback_verification_pending';
export const verificationFailed = 'webhook_callback_verification_failed';

/** Whether a subscription of this status delivers, or is about to. All others are dead and never come back. */
export function isLive(status: string): boolean {
  return status === enabled || status === verificationPending;
}

/** What tells one subscription from another: the platform permits one of a type and condition. */
export function subscriptionKey({
  type,
  version,
  condition,
}: Pick<OwnSubscription, 'type' | 'version' | 'condition'>): string {
  // The platform gives optional keys back that were never sent, with empty values.
  const given = Object.entries(condition).filter(([, value]) => value !== '');
  return JSON.stringify([type, version, ...given.sort(([a], [b]) => (a < b ? -1 : 1))]);
}

const minPauseMs = 60_000;
const maxPauseMs = 3_600_000;

/** How long to wait after so many failures in a row: none after none, then 1 min, 2 min … 1 h. */
export function pauseAfter(failures: number): number {
  return failures <= 0 ? 0 : Math.min(minPauseMs * 2 ** (failures - 1), maxPauseMs);
}

// What has worked for so long is made anew at once when it ends.
const provenAfterMs = 10 * 60_000;

/*
 * What becomes of a subscription:
 *
 *   waiting ──created──▶ webhook_callback_verification_pending ──▶ enabled
 *    ▲  │                        │                                   │
 *    │  ├─▶ refused              │ verification failed               │ revoked, failed, gone
 *    │  │   tried again          ▼                                   ▼
 *    │  │   after 1 min … 1 h   dead: deleted on the platform, made anew at once if it had worked for 10 min or never
 *    │  ▼                        │          failed before, else after 1 min … 1 h
 *    └ limit_reached             └──created──▶ …
 */

/** The platform has it, in this state. */
export function observed(
  own: OwnSubscription,
  { id, status, cost }: PlatformSubscription,
  now: number,
): OwnSubscription {
  const isSame = own.subscriptionId === id && own.status === status;
  if (isSame) return own.cost === cost ? own : { ...own, cost };
  const seen = { ...own, subscriptionId: id, cost };
  if (!isLive(status))
    return ended(seen, { status, reason: 'The platform has ended it: it is made anew.' }, now);
  return { ...seen, status, reason: null, retryAt: null, statusSince: now };
}

/** It works no more. While the platform still has it, it has its id. */
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

/** The platform does not have it any more. */
export function vanished(own: OwnSubscription, now: number): OwnSubscription {
  const reason = 'The platform has it no more: it is made anew.';
  return { ...ended(own, { status: waiting, reason }, now), subscriptionId: null };
}

/** It was deleted on the platform, to be made anew when its time comes. */
export function released(own: OwnSubscription): OwnSubscription {
  return { ...own, subscriptionId: null };
}

/** The platform will not have it, or has no room although there should be some: tried again later. */
export function turnedDown(
  own: OwnSubscription,
  status: typeof refused | typeof limitReached,
  { reason, now }: { reason: string; now: number },
): OwnSubscription {
  const attempts = own.attempts + 1;
  const statusSince = own.status === status ? own.statusSince : now;
  return { ...own, status, reason, attempts, retryAt: now + pauseAfter(attempts), statusSince };
}

/** The platform did not say what became of it: tried again later, so that it keeps none of the others waiting. */
export function putOff(
  own: OwnSubscription,
  { message, now }: { message: string; now: number },
): OwnSubscription {
  const attempts = own.attempts + 1;
  const reason = `It is tried again, as it could not be created: ${message}`;
  return { ...own, reason, attempts, retryAt: now + pauseAfter(attempts) };
}

/** The platform says that it exists: the next listing shows it, unless it is another's. */
export function alreadyThere(own: OwnSubscription, now: number): OwnSubscription {
  if (own.attempts > 0) {
    const reason = 'The platform has one for this type and condition already, which is not ours.';
    return turnedDown(own, refused, { reason, now });
  }
  const reason = 'The platform has it already: it is looked for in its list.';
  return { ...turnedDown(own, refused, { reason, now }), status: waiting };
}

/** There is no room for it under the platform's limit, by its cost. */
export function crowdedOut(own: OwnSubscription, now: number): OwnSubscription {
  const reason =
    'There is no room for it under the platform’s limit: streamers that are monitored longer come first.';
  if (own.status === limitReached && own.subscriptionId === null) return own;
  return { ...own, subscriptionId: null, status: limitReached, reason, retryAt: null, statusSince: now };
}
