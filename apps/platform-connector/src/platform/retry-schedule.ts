import type { PlatformCall } from '@stream-events/platforms';

export interface CallLimits {
  /** The time limit of the whole call, including all waits. */
  totalMs: number;
  /** The time limit of one attempt, from connecting to the last byte of the reply. */
  attemptMs: number;
  attempts: number;
}

/**
 * Limits of look-ups that a user may wait for. A service that looks up users gives up after 4 s, the contract's timeout, because a user
 * waits at most 4.5 s for the whole request.
 */
const userLimits: CallLimits = { totalMs: 3_500, attemptMs: 3_000, attempts: 2 };

/** Limits of stream look-ups. Their contract has a timeout of 15 s. */
const streamLimits: CallLimits = { totalMs: 14_000, attemptMs: 10_000, attempts: 3 };

/** Limits of calls that no request waits for. There is time for three attempts of 10 s and the pauses between them. */
const subscriptionLimits: CallLimits = { totalMs: 35_000, attemptMs: 10_000, attempts: 3 };

/**
 * Limits of calls for clients. Make only one attempt: without a reply, it is unknown whether the platform carried out the call, so the
 * client must decide whether to retry.
 */
export const clientCallLimits: CallLimits = { totalMs: 10_000, attemptMs: 8_000, attempts: 1 };

/**
 * Limits of calls about the conduit and its shards. The total is below 10 s, after which the platform closes a session that serves no
 * shard. If a call fails, the next check of the shards comes 5 s later.
 */
const conduitLimits: CallLimits = { totalMs: 8_000, attemptMs: 3_000, attempts: 3 };

/**
 * Limits of listing and creating conduits. Make only one attempt: if the reply is lost, the platform may have created a conduit, and a
 * second attempt could create another one. The listing and the creation together end within the 10 s for which a connector claims the check
 * of the conduit. If the search for an earlier conduit takes longer, two connectors can each create a conduit, but only one of them saves
 * it.
 */
const newConduitLimits: CallLimits = { totalMs: 4_500, attemptMs: 4_000, attempts: 1 };

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

// The first and the longest pause between attempts, each with its full random half. Brief failures end within half a second. During an
// outage, the random half of each pause keeps instances from retrying at the same moment.
const firstPauseMs = 500;
const longestPauseMs = 4_000;

// The minimum time for an attempt. With less time left, even a call to a fast platform could time out, so the service does not try.
const shortestAttemptMs = 1_000;

/**
 * Returns the pause after `failedAttempts` failed attempts, in milliseconds. The pause doubles with each attempt, and up to half of it is
 * random. `random` is a number from 0 to 1.
 */
export function retryPauseMs(failedAttempts: number, random: number): number {
  const pauseMs = Math.min(firstPauseMs * 2 ** (failedAttempts - 1), longestPauseMs);
  return (pauseMs / 2) * (1 + random);
}

/** Returns an attempt's timeout in whole milliseconds, or undefined when too little time is left. */
export function attemptTimeMs(limits: CallLimits, leftMs: number): number | undefined {
  return leftMs < shortestAttemptMs ? undefined : Math.min(limits.attemptMs, Math.floor(leftMs));
}

// Pauses after the platform has rejected the credentials. They are long, because wrong credentials stay wrong until somebody changes them.
const firstRefusalPauseMs = 30_000;
const longestRefusalPauseMs = 10 * 60_000;

/** Returns the pause, in milliseconds, after the platform has rejected the credentials `refusals` times in a row. */
export function refusalPauseMs(refusals: number): number {
  return Math.min(firstRefusalPauseMs * 2 ** (refusals - 1), longestRefusalPauseMs);
}

const firstRestMs = 1_000;
const longestRestMs = 30_000;

/** Returns how long the open circuit rests before the next probe, in milliseconds, after `failedProbes` failed probes. */
export function circuitRestMs(failedProbes: number): number {
  return Math.min(firstRestMs * 2 ** failedProbes, longestRestMs);
}
