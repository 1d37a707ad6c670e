import {
  lateWordMs,
  listingLagMs,
  type Milliseconds,
  type OfflineFact,
  type StreamFacts,
} from './stream-facts.js';

/**
 * When each stream of a streamer ended follows from what was said about it, in whatever order and however often it was said. Of a
 * stream that began at S, while the next one began at N, the end is the first of these that there is:
 *
 * ```
 *    what was said                                              the end                 but not when
 * 1  offline events that name the stream                        the earliest one        a poll saw it 5 min after that, or later
 * 2  offline events that name none, in S … N, and not           the earliest one        a poll saw it 5 min after that, or later;
 *    later than 5 min after polls began to miss the stream                              or it is about the former stream (below)
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
 * A streamer who comes back at once has begun the next stream before the platform has said that the former one is over. So the
 * first event without a name within 10 s after S is about the former stream, if that one has no end by 1, 2 or 3; unless it is the
 * only one, and polls have missed this stream without having seen it after that event.
 *
 * @param streams by start, all from some time on; of the first, no event without a name came within 10 s, or it is the very first
 * @param offline those that name one of them, and those without a name since the first of them began
 * @returns the end of each; null for one that is running
 */
export function resolveEnds(
  streams: readonly StreamFacts[],
  offline: readonly OfflineFact[],
): (Milliseconds | null)[] {
  const ends: (Milliseconds | null)[] = [];
  let isFormerOpen = false;
  for (const [index, stream] of streams.entries()) {
    const nextStart = streams[index + 1]?.startedAt;
    const said = findSaid(stream, { nextStart, isFormerOpen }, offline);
    const end = said ?? nextStart;
    ends.push(end === undefined ? null : Math.min(Math.max(end, stream.startedAt), nextStart ?? Infinity));
    isFormerOpen = said === undefined;
  }
  return ends;
}

/** What is known of a stream's neighbours. */
interface Neighbours {
  nextStart: Milliseconds | undefined;
  /** There is a former stream, and nothing was said of its end. */
  isFormerOpen: boolean;
}

/** The end by what events or polls have said: 1, 2 or 3. */
function findSaid(
  stream: StreamFacts,
  { nextStart, isFormerOpen }: Neighbours,
  offline: readonly OfflineFact[],
): Milliseconds | undefined {
  const { startedAt, seenAt } = stream;
  const until = nextStart ?? Infinity;
  const gone = findGone(stream, nextStart);
  const possible = offline.filter(({ at }) => seenAt === null || seenAt < at + listingLagMs);
  const named = possible.filter(({ streamId }) => streamId === stream.streamId).map(({ at }) => at);
  const unnamed = possible
    .filter(
      ({ streamId, at }) =>
        streamId === null && at >= startedAt && at < until && at <= (gone ?? Infinity) + listingLagMs,
    )
    .map(({ at }) => at)
    .sort((one, other) => one - other);
  const [first = Infinity, second] = unnamed;
  const isMissedSince = gone !== undefined && (seenAt === null || seenAt < first);
  const isOfFormer =
    isFormerOpen && first < startedAt + lateWordMs && (second !== undefined || !isMissedSince);
  const end = isOfFormer ? second : unnamed[0];
  return findEarliest(named) ?? end ?? gone;
}

/**
 * Since when polls have missed the stream for good; undefined when they have not, or it is not certain. A miss after the next start
 * says nothing: the next one was running.
 */
function findGone(
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
