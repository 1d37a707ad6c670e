import type { PlatformCall } from '@stream-events/platforms';

/** The time limits and the number of attempts of a call. */
export interface CallLimits {
  /** The whole call, including all waiting. */
  totalMs: number;
  /** One attempt, from connecting to the last byte of the reply. */
  attemptMs: number;
  attempts: number;
}

/** A person may wait for a look-up of users, for 4.5 s in all; the caller gives up after the contract's 4 s. */
const userLimits: CallLimits = { totalMs: 3_500, attemptMs: 3_000, attempts: 2 };

/** The contract of a look-up of streams has a timeout of 15 s. */
const streamLimits: CallLimits = { totalMs: 14_000, attemptMs: 10_000, attempts: 3 };

/** No request waits for these calls, so there is time for three attempts with their pauses. */
const subscriptionLimits: CallLimits = { totalMs: 35_000, attemptMs: 10_000, attempts: 3 };

/** The client decides whether to try again: the service cannot know whether a call that got no reply was carried out. */
export const clientCallLimits: CallLimits = { totalMs: 10_000, attemptMs: 8_000, attempts: 1 };

/** The platform closes a session that serves no shard after 10 s. The next check of the shards is due in 5 s. */
const conduitLimits: CallLimits = { totalMs: 8_000, attemptMs: 3_000, attempts: 3 };

/** The limits of each kind of call. */
export const callLimits: Readonly<Record<PlatformCall['endpoint'], CallLimits>> = {
  users: userLimits,
  games: userLimits,
  streams: streamLimits,
  list_subscriptions: subscriptionLimits,
  create_subscription: subscriptionLimits,
  delete_subscription: subscriptionLimits,
  list_authorizations: subscriptionLimits,
  create_conduit: conduitLimits,
  update_conduit: conduitLimits,
  delete_conduit: conduitLimits,
  list_shards: conduitLimits,
  assign_shard: conduitLimits,
};

// A hiccup ends within half a second. The random half keeps instances from retrying at the same moment during an outage.
const firstPauseMs = 500;
const longestPauseMs = 4_000;

// An attempt with less time would time out because of the service's own waiting, not because of the platform.
const shortestAttemptMs = 1_000;

/**
 * The pause after a failed attempt (1 is the first). The pause doubles each time, and half of it is random. `random` is from 0 to
 * 1.
 */
export function retryPauseMs(failedAttempts: number, random: number): number {
  const pauseMs = Math.min(firstPauseMs * 2 ** (failedAttempts - 1), longestPauseMs);
  return (pauseMs / 2) * (1 + random);
}

/** The timeout of an attempt in whole milliseconds; undefined when too little time is left for one. */
export function attemptTimeMs(limits: CallLimits, leftMs: number): number | undefined {
  return leftMs < shortestAttemptMs ? undefined : Math.min(limits.attemptMs, Math.floor(leftMs));
}

// Wrong credentials stay wrong until a person changes them.
const firstRefusalPauseMs = 30_000;
const longestRefusalPauseMs = 10 * 60_000;

/** The pause after the platform has rejected the credentials this many times in a row. */
export function refusalPauseMs(refusals: number): number {
  return Math.min(firstRefusalPauseMs * 2 ** (refusals - 1), longestRefusalPauseMs);
}

const firstRestMs = 1_000;
const longestRestMs = 30_000;

/** The time for which the circuit stays open, by the number of failed probes. */
export function circuitRestMs(failedProbes: number): number {
  return Math.min(firstRestMs * 2 ** failedProbes, longestRestMs);
}
