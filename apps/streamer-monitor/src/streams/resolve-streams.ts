import { listingLagMs, type Milliseconds, type OfflineFact, type StreamFacts } from './stream-facts.js';

/**
 * When each stream of a streamer ended follows from what was said about it, in whatever order and however often it was said. Of a
 * stream that began at S, while the next one began at N, the end is the first of these that there is:
 *
 * ```
 *    what was said                                              the end                 but not when
 * 1  offline events that name the stream                        the earliest one        a poll saw it 5 min after that, or later
 * 2  offline events that name none, in S … N, and not           the earliest one        a poll saw it 5 min after that, or later
 *    later than 5 min after polls began to miss the stream
 * 3  polls missed it: twice, or once and there is a next one    the first miss          a poll saw it afterwards
 * 4  there is a next one: a streamer has one stream at a time   N
 * 5  nothing of this                                            none: it is running
 *
 *    S ├── 1, 2: events, to the second ──┤ list of the platform: up to 5 min late ├── 3: polls, ≥ 20 s apart ── … N
 * ```
 *
 * An end is neither before S nor after N. An event that a poll contradicts was about another stream, or the streamer came back
 * within the same one. An event without a name that comes long after polls began to miss the stream is about a stream that nobody
 * has told us of: it must not prolong this one.
 *
 * @param streams by start, all from some time on
 * @param offline those that name one of them, and those without a name since the first of them began
 * @returns the end of each; null for one that is running
 */
export function resolveEnds(
  streams: readonly StreamFacts[],
  offline: readonly OfflineFact[],
): (Milliseconds | null)[] {
  return streams.map((stream, index) => resolveEnd(stream, streams[index + 1]?.startedAt, offline));
}

function resolveEnd(
  stream: StreamFacts,
  nextStart: Milliseconds | undefined,
  offline: readonly OfflineFact[],
): Milliseconds | null {
  const { startedAt } = stream;
  const until = nextStart ?? Infinity;
  const gone = findGone(stream, nextStart);
  const possible = offline.filter(({ at }) => stream.seenAt === null || stream.seenAt < at + listingLagMs);
  const named = possible.filter(({ streamId }) => streamId === stream.streamId);
  const unnamed = possible.filter(
    ({ streamId, at }) =>
      streamId === null && at >= startedAt && at < until && at <= (gone ?? Infinity) + listingLagMs,
  );
  const end = findEarliest(named) ?? findEarliest(unnamed) ?? gone ?? nextStart;
  return end === undefined ? null : Math.min(Math.max(end, startedAt), until);
}

/** Since when polls have missed the stream for good; undefined when they have not, or it is not certain. */
function findGone(
  { missedAt, isMissConfirmed }: StreamFacts,
  nextStart: Milliseconds | undefined,
): Milliseconds | undefined {
  if (missedAt === null) return undefined;
  return isMissConfirmed || nextStart !== undefined ? missedAt : undefined;
}

function findEarliest(events: readonly OfflineFact[]): Milliseconds | undefined {
  return events.length === 0 ? undefined : Math.min(...events.map(({ at }) => at));
}
