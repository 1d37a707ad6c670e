import { createHash } from 'node:crypto';
import { v7 as uuidV7 } from 'uuid';

/**
 * Milliseconds since 1970. The times of streams and events come from the platform's clock, the times of polls from the connector's clock.
 */
export type Milliseconds = number;

/** The polls that did not find a stream although the platform should have listed it. */
export interface Misses {
  /** The first miss after the last poll that saw the stream. */
  missedAt: Milliseconds | null;
  /** Whether a second poll has missed the stream. */
  isMissConfirmed: boolean;
}

/** The facts about a stream. */
export interface StreamFacts extends Misses {
  /** The platform's id. */
  streamId: string;
  startedAt: Milliseconds;
  /** The last poll that saw the stream; null when no poll has seen it. */
  seenAt: Milliseconds | null;
}

/** A stream-offline event. */
export interface OfflineFact {
  /** The stream that has ended; null when the event does not name the stream. */
  streamId: string | null;
  at: Milliseconds;
}

/** The period of the latest consecutive polls that did not find the streamer live: the times of the first and the last of them. */
export interface Absence {
  since: Milliseconds;
  until: Milliseconds;
}

/**
 * The platform's list may first show a stream up to this long after its start, and still show it up to this long after its end. Usually,
 * both delays are 1 to 2 min.
 */
export const listingLagMs = 5 * 60_000;

/**
 * The offline event of the previous stream may occur up to this long after the start of the next stream. Usually, the delay is a few
 * seconds.
 */
export const lateOfflineMs = 10_000;

/** A single miss can be caused by the platform's caches. Two misses at least this far apart mean that the stream is over. */
export const confirmMissAfterMs = 20_000;

// The longest usual gap between two polls: two poll intervals, plus the 30 s claim of an instance that died between the two polls.
const maxPollGapMs = 2 * 60_000;

/** Returns the facts with a miss added. The miss counts only when the platform should have listed the stream. */
export function addMiss<Facts extends StreamFacts>(facts: Facts, at: Milliseconds): Facts {
  if (facts.seenAt === null && at < facts.startedAt + listingLagMs) return facts;
  const { missedAt, isMissConfirmed } = facts;
  // A first miss that is later than this one was recorded before a clock was set back, so this miss replaces it.
  if (missedAt === null || at < missedAt) return { ...facts, missedAt: at, isMissConfirmed: false };
  // Two misses end the stream. After a gap between polls, the end is the second miss, because the stream may have run until shortly
  // before that miss.
  if (!isMissConfirmed && at - missedAt > maxPollGapMs)
    return { ...facts, missedAt: at, isMissConfirmed: true };
  return { ...facts, isMissConfirmed: isMissConfirmed || at >= missedAt + confirmMissAfterMs };
}

/**
 * Returns the misses of a stream that follow from the polls before its announcement. Without these misses, an announcement that arrives
 * hours late would make a stream of a few minutes hours long.
 */
export function missesBeforeKnown(startedAt: Milliseconds, absence: Absence | null): Misses {
  const missedAt = Math.max(absence?.since ?? 0, startedAt + listingLagMs);
  if (!absence || missedAt > absence.until) return { missedAt: null, isMissConfirmed: false };
  return { missedAt, isMissConfirmed: absence.until >= missedAt + confirmMissAfterMs };
}

/**
 * Returns the absence, extended by a poll that did not find the streamer live. After a gap of more than 2 min, a new absence starts,
 * because the streamer may have been live during the gap.
 */
export function prolongAbsence(absence: Absence | null, at: Milliseconds): Absence {
  const isUnbroken = absence !== null && at - absence.until <= maxPollGapMs;
  // After a clock was set back, `at` can be earlier than the start of the absence.
  return { since: isUnbroken ? Math.min(absence.since, at) : at, until: at };
}

/**
 * Returns the id of a stream's row: a UUIDv7 with the time of the stream's start. The other bits are derived from the platform's ids. A
 * stream that is recorded again therefore gets the same id. The id contains the start to the second, because polls report no milliseconds.
 */
export function streamRowId(platformId: string, streamId: string, startedAt: Milliseconds): string {
  const random = createHash('sha256').update(`${platformId}/${streamId}`).digest().subarray(0, 16);
  return uuidV7({ msecs: Math.floor(startedAt / 1_000) * 1_000, random });
}
