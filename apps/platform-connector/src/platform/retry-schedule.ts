import type { PlatformCall } from '@stream-events/platforms';

/** The time limits and the number of attempts for a call. */
export interface CallLimits {
  /** The time limit of the whole call, including all waiting. */
  totalMs: number;
  /** The time limit of one attempt, from connecting to the last byte of the reply. */
  attemptMs: number;
  attempts: number;
}

/** Limits of look-ups for which a user may wait, for at most 4.5 s. The calling service gives up after 4 s, the timeout of the contract. */
const userLimits: CallLimits = { totalMs: 3_500, attemptMs: 3_000, attempts: 2 };

/** Limits of stream look-ups, whose contract has a timeout of 15 s. */
const streamLimits: CallLimits = { totalMs: 14_000, attemptMs: 10_000, attempts: 3 };

/** Limits of calls for which no request waits, so there is time for three attempts of 10 s with pauses. */
const subscriptionLimits: CallLimits = { totalMs: 35_000, attemptMs: 10_000, attempts: 3 };

/**
 * Limits of calls for clients. They get one attempt: without a reply, it is unknown whether the platform carried out the call, so the
 * client must decide whether to retry.
 */
export const clientCallLimits: CallLimits = { totalMs: 10_000, attemptMs: 8_000, attempts: 1 };

/**
 * Limits of calls about the conduit and its shards. The total is under 10 s, because the platform closes a session that serves no shard
 * after 10 s. The next check of the shards is due in 5 s.
 */
const conduitLimits: CallLimits = { totalMs: 8_000, attemptMs: 3_000, attempts: 3 };

/**
 * Limits of listing and creating conduits. Each call gets one attempt: without a reply, the platform may have created a conduit, and
 * another attempt could create a second one. Both calls together end within the 10 s for which a connector claims the check of the conduit.
 * If looking for an earlier conduit takes longer, only one connector saves its conduit.
 */
const newConduitLimits: CallLimits = { totalMs: 4_500, attemptMs: 4_000, attempts: 1 };

/** The limits of each kind of call. */
export const callLimits: Readonly<Record<PlatformCall['endpoint'], CallLimits>> = {
  users: userLimits,
  games: userLimits,
  streams: streamLimits,
  list_subscriptions: subscriptionLimits,
  create_subscription: subscriptionLimits,
  delete_subscription: subscriptionLimits,
  list_authorizations: subscriptionLimits,
  list_conduits: newConduitLimits,
  create_conduit: newConduitLimits,
  update_conduit: conduitLimits,
  delete_conduit: conduitLimits,
  list_shards: conduitLimits,
  assign_shard: conduitLimits,
};

// The limits of the pause between attempts. Short failures end within half a second. During an outage, the random half of each pause keeps
// instances from retrying at the same moment.
const firstPauseMs = 500;
const longestPauseMs = 4_000;

// A call makes no attempt with less time left than this, because such an attempt could time out even if the platform is fast.
const shortestAttemptMs = 1_000;

/**
 * Returns the pause after a failed attempt in milliseconds; the first attempt is 1. The pause doubles with each attempt, and up to half of
 * the pause is random. `random` is a number from 0 to 1.
 */
export function retryPauseMs(failedAttempts: number, random: number): number {
  const pauseMs = Math.min(firstPauseMs * 2 ** (failedAttempts - 1), longestPauseMs);
  return (pauseMs / 2) * (1 + random);
}

/** Returns the timeout for an attempt in whole milliseconds; undefined when too little time is left for one. */
export function attemptTimeMs(limits: CallLimits, leftMs: number): number | undefined {
  return leftMs < shortestAttemptMs ? undefined : Math.min(limits.attemptMs, Math.floor(leftMs));
}

// Pauses after a rejection of the credentials are long, because wrong credentials stay wrong until a user changes them.
const firstRefusalPauseMs = 30_000;
const longestRefusalPauseMs = 10 * 60_000;

/** Returns the pause, in milliseconds, after the platform has rejected the credentials this many times in a row. */
export function refusalPauseMs(refusals: number): number {
  return Math.min(firstRefusalPauseMs * 2 ** (refusals - 1), longestRefusalPauseMs);
}

const firstRestMs = 1_000;
const longestRestMs = 30_000;

/** Returns the time, in milliseconds, until the next probe while the circuit is open, by the number of failed probes. */
export function circuitRestMs(failedProbes: number): number {
  return Math.min(firstRestMs * 2 ** failedProbes, longestRestMs);
}
