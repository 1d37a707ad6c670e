import { createHash } from 'node:crypto';
import { v7 as uuidV7 } from 'uuid';

/** All times in these facts are milliseconds since 1970, by the platform's clock or, of polls, by the one of who asked. */
export type Milliseconds = number;

/** Which polls have not found a stream that they should have found. */
export interface Misses {
  /** The first one after the last that saw the stream. */
  missedAt: Milliseconds | null;
  /** Whether a second one has missed it as well. */
  isMissConfirmed: boolean;
}

/** What was said about a stream. */
export interface StreamFacts extends Misses {
  /** The platform's id. */
  streamId: string;
  startedAt: Milliseconds;
  /** The last poll that saw it. */
  seenAt: Milliseconds | null;
}

/** An event that said that the streamer went offline. */
export interface OfflineFact {
  /** The stream that has ended; null when the event does not say it. */
  streamId: string | null;
  at: Milliseconds;
}

/** Polls in a row that have not found a streamer live, up to the last one. */
export interface Absence {
  since: Milliseconds;
  until: Milliseconds;
}

/** The platform lists a stream up to so long after its start, and up to so long after its end. In practice it is a minute or two. */
export const listingLagMs = 5 * 60_000;

/** The platform may say so long after the start of a stream that the former one is over: it says so within seconds. */
export const lateWordMs = 10_000;

/** One answer without a stream may be a slip of the platform's caches: two that are so far apart are not. */
export const confirmMissAfterMs = 20_000;

// Twice the time between two polls, and some for an instance that has died in between.
const maxPollGapMs = 2 * 60_000;

/** The stream after a poll without it, which counts only when the platform should have listed it. */
export function noteMissed<Facts extends StreamFacts>(facts: Facts, at: Milliseconds): Facts {
  if (facts.seenAt === null && at < facts.startedAt + listingLagMs) return facts;
  if (facts.missedAt === null) return { ...facts, missedAt: at };
  return { ...facts, isMissConfirmed: facts.isMissConfirmed || at >= facts.missedAt + confirmMissAfterMs };
}

/**
 * The polls that have missed a stream before anybody knew of it: an event that comes hours late must not make a stream of
 * hours from one that was over in minutes.
 */
export function missesBeforeKnown(startedAt: Milliseconds, absence: Absence | null): Misses {
  const missedAt = Math.max(absence?.since ?? 0, startedAt + listingLagMs);
  if (!absence || missedAt > absence.until) return { missedAt: null, isMissConfirmed: false };
  return { missedAt, isMissConfirmed: absence.until >= missedAt + confirmMissAfterMs };
}

/** The absence after one more poll without a stream. After a gap it begins anew: nobody knows what was in between. */
export function prolongAbsence(absence: Absence | null, at: Milliseconds): Absence {
  const isUnbroken = absence !== null && at - absence.until <= maxPollGapMs;
  return { since: isUnbroken ? absence.since : at, until: at };
}

/**
 * The id of a stream's row: a UUIDv7 of its start. The rest of it follows from the platform's ids, and of the start only the
 * second counts, which events and polls agree about: a stream that is recorded again has the same id.
 */
export function streamRowId(platformId: string, streamId: string, startedAt: Milliseconds): string {
  const random = createHash('sha256').update(`${platformId}/${streamId}`).digest().subarray(0, 16);
  return uuidV7({ msecs: Math.floor(startedAt / 1_000) * 1_000, random });
}
