import { createHash } from 'node:crypto';
import { v7 as uuidV7 } from 'uuid';

/** Milliseconds since 1970. Times of streams and events are by the platform's clock, times of polls by the connector's. */
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
  /** The last poll that saw the stream; null when none did. */
  seenAt: Milliseconds | null;
}

/** A stream-offline event. */
export interface OfflineFact {
  /** The stream that has ended; null when the event does not name it. */
  streamId: string | null;
  at: Milliseconds;
}

/** The latest consecutive polls that did not find the streamer live. */
export interface Absence {
  since: Milliseconds;
  until: Milliseconds;
}

/** The platform's list may show a stream this long after its start, and keep it this long after its end. Usually 1 to 2 min. */
export const listingLagMs = 5 * 60_000;

/** The offline event of the previous stream may arrive this long after the start of the next one. Usually a few seconds. */
export const lateOfflineMs = 10_000;

/** A single miss can be caused by the platform's caches. Two misses at least this far apart mean that the stream is over. */
export const confirmMissAfterMs = 20_000;

// Two poll intervals, plus the 30 s claim of an instance that died in between.
const maxPollGapMs = 2 * 60_000;

/** Adds a miss to a stream. The miss counts only when the platform should have listed the stream. */
export function addMiss<Facts extends StreamFacts>(facts: Facts, at: Milliseconds): Facts {
  if (facts.seenAt === null && at < facts.startedAt + listingLagMs) return facts;
  if (facts.missedAt === null) return { ...facts, missedAt: at };
  return { ...facts, isMissConfirmed: facts.isMissConfirmed || at >= facts.missedAt + confirmMissAfterMs };
}

/**
 * Returns the misses of a stream by the polls before its announcement. Without these misses, an announcement that arrives hours late would
 * turn a stream of minutes into a stream of hours.
 */
export function missesBeforeKnown(startedAt: Milliseconds, absence: Absence | null): Misses {
  const missedAt = Math.max(absence?.since ?? 0, startedAt + listingLagMs);
  if (!absence || missedAt > absence.until) return { missedAt: null, isMissConfirmed: false };
  return { missedAt, isMissConfirmed: absence.until >= missedAt + confirmMissAfterMs };
}

/**
 * Extends an absence by a poll without a stream. After a gap, a new absence starts, because the streamer may have been live in
 * between.
 */
export function prolongAbsence(absence: Absence | null, at: Milliseconds): Absence {
  const isUnbroken = absence !== null && at - absence.until <= maxPollGapMs;
  return { since: isUnbroken ? absence.since : at, until: at };
}

/**
 * The id of a stream's row: a UUIDv7 of its start, with the rest derived from the platform's ids. A stream that is recorded again
 * gets the same id. The id contains the start to the second, because polls report no milliseconds.
 */
export function streamRowId(platformId: string, streamId: string, startedAt: Milliseconds): string {
  const random = createHash('sha256').update(`${platformId}/${streamId}`).digest().subarray(0, 16);
  return uuidV7({ msecs: Math.floor(startedAt / 1_000) * 1_000, random });
}
