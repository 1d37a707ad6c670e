import type { Consent } from '../grants/consent.js';
import {
  isLive,
  notGranted,
  withConsent,
  withoutConsent,
  type OwnSubscription,
} from '../subscriptions/own-subscription.js';

/** A wanted subscription, and whether users have given the consent that it needs. */
export interface WantedRow {
  own: OwnSubscription;
  /** The cost that the platform last reported, or the expected cost. See `costOf`. */
  cost: number;
  expectedCost: number;
  consent: Consent;
}

/** The subscriptions that may exist, and the new states of those whose consent has changed. */
export interface Consented {
  rows: WantedRow[];
  changed: OwnSubscription[];
  /** Whether subscriptions wait for the outcome of an attempt to create another one. */
  hasAttempts: boolean;
}

/**
 * Leaves out the subscriptions that must not be created now, because consent is missing or not known yet. Keeps those that already exist on
 * the platform: the platform itself ends them when a user withdraws consent.
 *
 * | consent  | result                                                                             |
 * |----------|------------------------------------------------------------------------------------|
 * | given    | created, unless the platform has refused the subscription within the last day      |
 * | missing  | `not_granted`                                                                      |
 * | unlisted | waits                                                                              |
 * | unknown  | one attempt per channel; then all of the channel's subscriptions are created, or none |
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

/** The outcomes of the attempts for a channel. */
interface Attempt {
  /** Why the platform has refused a subscription for the channel; null when it has refused none. */
  denial: string | null;
  hasWorked: boolean;
  /** The subscription whose creation is tried first. */
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

/** Returns the subscription's new state, or undefined when it must wait. */
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

/** Whether the platform has refused the subscription within the last day. */
function isDenied({ status, retryAt }: OwnSubscription, now: number): boolean {
  return status === notGranted && retryAt !== null && retryAt > now;
}
