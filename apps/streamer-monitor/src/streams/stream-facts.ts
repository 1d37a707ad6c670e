import { createHash } from 'node:crypto';
import { v7 as uuidV7 } from 'uuid';

/** Milliseconds since 1970. Times of streams and events come from the platform's clock, times of polls from the connector's. */
export type Milliseconds = number;

/** Polls that did not find a stream although the platform should have listed it. */
export interface Misses {
  /** The miss that counts as the end: the first one since a poll last saw the stream, or the second one after a gap (see `addMiss`). */
  missedAt: Milliseconds | null;
  /** Whether a second poll has missed the stream. */
  isMissConfirmed: boolean;
}

/** What is known about a stream. */
export interface StreamFacts extends Misses {
  /** The id on the platform. */
  streamId: string;
  startedAt: Milliseconds;
  /** The time of the latest message that announced the stream; null when only polls have seen it. */
  announcedAt: Milliseconds | null;
  /** The last poll that saw the stream; null when no poll has seen it. */
  seenAt: Milliseconds | null;
}

/** A message that announces a stream. */
export interface Announcement {
  startedAt: Milliseconds;
  /** The message's time on the platform. The platform announces a stream again, with the same start, when it resumes. */
  announcedAt: Milliseconds;
}

/** A stream-offline event. */
export interface OfflineFact {
  /** The ended stream; null when the event names none. */
  streamId: string | null;
  at: Milliseconds;
}

/** An unbroken series of polls that have not found the streamer live: the times of its first and last poll. */
export interface Absence {
  since: Milliseconds;
  until: Milliseconds;
}

/** How late the platform's list may show a stream's start or end. The usual delay is 1 to 2 min. */
export const listingLagMs = 5 * 60_000;

/** How long after the start of the next stream the previous stream's offline event may occur. The usual delay is a few seconds. */
export const lateOfflineMs = 10_000;

/** Minimum time between two misses that prove the end of a stream. A single miss can come from the platform's caches. */
export const confirmMissAfterMs = 20_000;

// Maximum time between two polls in a series: two poll intervals, plus the 30 s claim of an instance that died between them.
const maxPollGapMs = 2 * 60_000;

/** Adds a miss, which counts only if the platform should have listed the stream by then. */
export function addMiss<Facts extends StreamFacts>(facts: Facts, at: Milliseconds): Facts {
  const { startedAt, announcedAt, missedAt, isMissConfirmed } = facts;
  if (!isListedBy({ ...facts, announcedAt: announcedAt ?? startedAt }, at)) return facts;
  // If the recorded miss is later than this one, a clock was set back since then, so this miss replaces it.
  if (missedAt === null || at < missedAt) return { ...facts, missedAt: at, isMissConfirmed: false };
  // Two misses end the stream. After more than 2 min between them, the second one is the end, because the stream may have run until shortly
  // before it.
  if (!isMissConfirmed && at - missedAt > maxPollGapMs)
    return { ...facts, missedAt: at, isMissConfirmed: true };
  return { ...facts, isMissConfirmed: isMissConfirmed || at >= missedAt + confirmMissAfterMs };
}

/**
 * Returns the misses of a stream that a message has announced. For a new stream, and for one that the message reports to be running again,
 * derives them from the polls before the message arrived. Without them, an announcement that arrives hours late would make a stream of a
 * few minutes hours long.
 *
 * @param known the stream before the announcement; undefined when it is new
 */
export function missesOnceAnnounced(
  known: StreamFacts | undefined,
  announced: Announcement,
  absence: Absence | null,
): Misses {
  if (known && isMissStillValid(known, announced)) return known;
  const missedAt = Math.max(absence?.since ?? 0, reportedAt(announced) + listingLagMs);
  if (!absence || missedAt > absence.until) return { missedAt: null, isMissConfirmed: false };
  return { missedAt, isMissConfirmed: absence.until >= missedAt + confirmMissAfterMs };
}

function isMissStillValid({ missedAt, seenAt, announcedAt }: StreamFacts, announced: Announcement): boolean {
  if (missedAt === null || (announcedAt !== null && announcedAt >= announced.announcedAt)) return true;
  return isListedBy({ ...announced, seenAt }, missedAt);
}

/** Whether the platform should list the stream by `at`: a poll has seen it since it was last reported to run, or the lag is over. */
function isListedBy(facts: Announcement & Pick<StreamFacts, 'seenAt'>, at: Milliseconds): boolean {
  const since = reportedAt(facts);
  return (facts.seenAt !== null && facts.seenAt >= since) || at >= since + listingLagMs;
}

function reportedAt({ startedAt, announcedAt }: Announcement): Milliseconds {
  return Math.max(startedAt, announcedAt);
}

/**
 * Extends an absence by a poll that did not find the streamer live. After a gap of more than 2 min, a new absence begins, because the
 * streamer may have been live in the gap.
 */
export function prolongAbsence(absence: Absence | null, at: Milliseconds): Absence {
  const isUnbroken = absence !== null && at - absence.until <= maxPollGapMs;
  // After a clock was set back, `at` can precede the absence.
  return { since: isUnbroken ? Math.min(absence.since, at) : at, until: at };
}

/**
 * Returns the id of a stream's row: a UUIDv7 with the time of the start. Its other bits are a hash of the platform's ids, so recording a
 * stream again gives the same id. The start is cut to the second, because polls report no milliseconds.
 */
export function streamRowId(platformId: string, streamId: string, startedAt: Milliseconds): string {
  const random = createHash('sha256').update(`${platformId}/${streamId}`).digest().subarray(0, 16);
  return uuidV7({ msecs: Math.floor(startedAt / 1_000) * 1_000, random });
}
