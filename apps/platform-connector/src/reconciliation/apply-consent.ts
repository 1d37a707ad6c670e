import type { Consent } from '../grants/consent.js';
import {
  isLive,
  notGranted,
  withConsent,
  withoutConsent,
  type OwnSubscription,
} from '../subscriptions/own-subscription.js';

/** A wanted subscription, its cost, and whether it has the consent that it needs. */
export interface WantedRow {
  own: OwnSubscription;
  cost: number;
  consent: Consent;
}

/** The subscriptions that may exist, and the new states of those that may not, or may again. */
export interface Consented {
  rows: WantedRow[];
  changed: OwnSubscription[];
  /** Whether other subscriptions wait for the result of an attempt. */
  hasAttempts: boolean;
}

/**
 * Removes the subscriptions that must not be created now for lack of consent. Those that exist on the platform stay: the platform ends
 * them when a user withdraws the consent.
 *
 * | consent  | result                                                                             |
 * |----------|------------------------------------------------------------------------------------|
 * | given    | created, unless the platform has refused it within the last day                    |
 * | missing  | `not_granted`                                                                      |
 * | unlisted | waits                                                                              |
 * | unknown  | one attempt per channel: then all of its subscriptions are created, or none of them |
 */
export function applyConsent(rows: readonly WantedRow[], now: number): Consented {
  const attempts = new Map<string, Attempt>();
  for (const row of rows)
    if (row.consent.kind === 'unknown') note(attempts, row.consent.channelId, row.own, now);
  const result: Consented = { rows: [], changed: [], hasAttempts: false };
  for (const row of rows) {
    const { own } = row;
    const after = own.subscriptionId === null ? judge(row, attempts, now) : own;
    if (!after && row.consent.kind === 'unknown') result.hasAttempts = true;
    if (after && after !== own) result.changed.push(after);
    if (after && after.status !== notGranted) result.rows.push({ ...row, own: after });
  }
  return result;
}

/** What the attempts of a channel have shown. */
interface Attempt {
  /** Why the platform has refused a subscription. */
  denial: string | null;
  hasWorked: boolean;
  /** The subscription to try first. */
  first: OwnSubscription;
}

function note(attempts: Map<string, Attempt>, channelId: string, own: OwnSubscription, now: number): void {
  const known = attempts.get(channelId);
  const denial = isDenied(own, now) ? own.reason : null;
  attempts.set(channelId, {
    denial: known?.denial ?? denial,
    hasWorked: (known?.hasWorked ?? false) || isLive(own.status),
    first: known?.first ?? own,
  });
}

/** The subscription's new state; undefined when it must wait. */
function judge(
  { own, consent }: WantedRow,
  attempts: ReadonlyMap<string, Attempt>,
  now: number,
): OwnSubscription | undefined {
  if (isDenied(own, now)) return own;
  switch (consent.kind) {
    case 'given':
      return withConsent(own, now);
    case 'missing':
      return withoutConsent(own, { reason: consent.remedy, now });
    case 'unlisted':
      return undefined;
    case 'unknown': {
      const attempt = attempts.get(consent.channelId);
      if (attempt?.denial != null) return withoutConsent(own, { reason: attempt.denial, now });
      return attempt?.hasWorked === true || attempt?.first === own ? withConsent(own, now) : undefined;
    }
  }
}

/** Whether the platform itself has refused the subscription, not long ago. */
function isDenied({ status, retryAt }: OwnSubscription, now: number): boolean {
  return status === notGranted && retryAt !== null && retryAt > now;
}
