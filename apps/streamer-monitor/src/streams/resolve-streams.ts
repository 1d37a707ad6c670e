import {
  lateOfflineMs,
  listingLagMs,
  type Milliseconds,
  type OfflineFact,
  type StreamFacts,
} from './stream-facts.js';

/**
 * Determines when each of a streamer's streams ended. The result depends only on the facts, not on their order or on repeats. For a stream
 * that starts at S, with the next one starting at N, the first rule that applies gives the end:
 *
 * ```
 *    facts                                                      end                     does not apply when
 * 1  offline events that name the stream                        the earliest event      the stream was announced again after the event,
 *                                                                                       or a poll saw the stream ≥ 5 min after the event
 * 2  offline events that name no stream, in S … N, and at       the earliest event      as in 1, or the event belongs to the previous
 *    most 5 min after the first of two misses                                           stream (below)
 * 3  polls missed it: twice, or once before N                   the first miss          a poll saw the stream later
 * 4  there is a next stream: only one can run at a time         N
 * 5  none of these                                              none: it is running
 *
 *    S ├── 1, 2: events, to the second ──┤ platform's list: up to 5 min late ├── 3: polls, ≥ 20 s apart ── … N
 * ```
 *
 * An end is never before S, and never after N. If a later announcement or a poll contradicts an event, the event was about another stream,
 * or the streamer resumed this one. An unnamed event long after the first of two misses belongs to a stream that was never announced or
 * seen, so it must not prolong this one.
 *
 * A streamer who restarts at once begins the next stream before the platform reports the end of the previous one. So the first unnamed
 * event within 10 s after S belongs to the previous stream if rules 1 to 3 give that one no end. Exception: it belongs to this stream if it
 * is the only unnamed event before N, polls have missed this stream, and no poll has seen it after the event.
 *
 * @param streams sorted by start, with no stream missing after the first one. The first one must be the streamer's first stream, or have no
 * unnamed event within 10 s after its start.
 * @param offline the events that name one of these streams, and the unnamed events since the start of the first one
 * @returns the end of each stream; null when it is running
 */
export function resolveEnds(
  streams: readonly StreamFacts[],
  offline: readonly OfflineFact[],
): (Milliseconds | null)[] {
  const ends: (Milliseconds | null)[] = [];
  let isPreviousOpen = false;
  for (const [index, stream] of streams.entries()) {
    const nextStart = streams[index + 1]?.startedAt;
    const known = findKnownEnd(stream, { nextStart, isPreviousOpen }, offline);
    const end = known ?? nextStart;
    ends.push(end === undefined ? null : Math.min(Math.max(end, stream.startedAt), nextStart ?? Infinity));
    isPreviousOpen = known === undefined;
  }
  return ends;
}

/** What matters about a stream's neighbors. */
interface Neighbors {
  nextStart: Milliseconds | undefined;
  /** Whether there is a previous stream to which rules 1 to 3 give no end. */
  isPreviousOpen: boolean;
}

/** Returns the end by rules 1 to 3; undefined when none of them applies. */
function findKnownEnd(
  stream: StreamFacts,
  { nextStart, isPreviousOpen }: Neighbors,
  offline: readonly OfflineFact[],
): Milliseconds | undefined {
  const { startedAt, announcedAt, seenAt } = stream;
  const until = nextStart ?? Infinity;
  // After the next stream began, this one cannot resume.
  const resumedAt = announcedAt !== null && announcedAt < until ? announcedAt : -Infinity;
  const confirmedMiss = findConfirmedMiss(stream, nextStart);
  const lastUnnamed =
    stream.isMissConfirmed && confirmedMiss !== undefined ? confirmedMiss + listingLagMs : Infinity;
  const possible = offline.filter(
    ({ at }) => at >= resumedAt && (seenAt === null || seenAt < at + listingLagMs),
  );
  const named = possible.filter(({ streamId }) => streamId === stream.streamId).map(({ at }) => at);
  const unnamed = possible
    .filter(({ streamId, at }) => streamId === null && at >= startedAt && at < until && at <= lastUnnamed)
    .map(({ at }) => at)
    .sort((one, other) => one - other);
  const [first = Infinity, second] = unnamed;
  const isMissedSince = confirmedMiss !== undefined && (seenAt === null || seenAt < first);
  const isOfPrevious =
    isPreviousOpen && first < startedAt + lateOfflineMs && (second !== undefined || !isMissedSince);
  const end = isOfPrevious ? second : unnamed[0];
  return findEarliest(named) ?? end ?? confirmedMiss;
}

/**
 * Returns the first miss if the misses prove an end: two for the latest stream, or one before the next stream started. A miss after the
 * next start proves nothing, because the next stream was already running.
 */
function findConfirmedMiss(
  { missedAt, isMissConfirmed }: StreamFacts,
  nextStart: Milliseconds | undefined,
): Milliseconds | undefined {
  if (missedAt === null) return undefined;
  const isCertain = nextStart === undefined ? isMissConfirmed : missedAt < nextStart;
  return isCertain ? missedAt : undefined;
}

function findEarliest(times: readonly Milliseconds[]): Milliseconds | undefined {
  return times.length === 0 ? undefined : Math.min(...times);
}
