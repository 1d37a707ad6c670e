import type { RecordedStream } from './gateway-client.js';
import type { TrueStream } from './simulated-platform.js';
import type { StreamEvent } from './stream-events.js';

/** The evidence about one streamer: the true streams, the streams that the service recorded, and the reports that the service got. */
export interface StreamerEvidence {
  /** The true streams, in order. */
  truth: readonly TrueStream[];
  recorded: readonly RecordedStream[];
  /** The messages that the service received. */
  events: readonly StreamEvent[];
  /** The times of look-ups of the streamer on the platform. */
  lookUps: readonly number[];
}

/** A difference from the truth that breaks a promise. */
export interface Difference {
  kind: 'missing' | 'unknown' | 'duplicate' | 'not running' | 'still running' | 'start' | 'end';
  /** The stream's id on the platform. */
  streamId: string;
  /** For a start or an end: the size of the difference in milliseconds. */
  ms?: number;
}

export interface Comparison {
  differences: Difference[];
  /** The numbers of true streams, of recorded true streams, and of true streams that could not be known. */
  streams: number;
  recorded: number;
  unknowable: number;
  /** Recorded streams whose online message was lost, so that only polls could report the start. */
  foundByPolls: { stream: RecordedStream; truth: TrueStream }[];
  /** For streams whose end no message reported: the delays of the recorded ends, in milliseconds. */
  unreportedEndsMs: number[];
  /** The errors of the recorded times, in milliseconds, except for ends that no message reported. */
  reportedErrorsMs: number[];
}

/** The API truncates times to seconds. */
export const timeToleranceMs = 1_100;
/** For an end that no message reported: the poll interval of 45 s, plus 5 s for a busy machine. */
export const pollToleranceMs = 50_000;
// The platform creates its reply some time after the tap has recorded the call.
const lookUpMarginMs = 500;

/** Compares a streamer's recorded streams with the true streams, as far as the service could know them. */
export function compareStreams(evidence: StreamerEvidence): Comparison {
  const { truth, recorded, events } = evidence;
  const byId = new Map(recorded.map((stream) => [stream.streamId, stream]));
  const trueIds = new Set(truth.map(({ id }) => id));
  const announced = new Set(events.flatMap(({ kind, streamId }) => (kind === 'online' ? [streamId] : [])));
  const found = truth.flatMap((stream) => {
    const record = byId.get(stream.id);
    return record ? [{ stream: record, truth: stream }] : [];
  });
  const missed = truth.filter(({ id }) => !byId.has(id));
  const missing = missed.filter(
    (stream) => announced.has(stream.id) || isSeenByPolls(stream, evidence.lookUps),
  );
  const ends = found.flatMap((pair) => compareEnd(pair, evidence));
  const starts = found.map(({ stream, truth: { startedAt } }) => stream.startedAt - startedAt);
  return {
    differences: [
      ...missing.map(({ id }) => ({ kind: 'missing', streamId: id }) as const),
      ...findUnknown(recorded, trueIds),
      ...found.flatMap(({ stream }, index) => checkTime('start', stream, starts[index] ?? 0)),
      ...ends.flatMap(({ difference }) => difference ?? []),
    ],
    streams: truth.length,
    recorded: found.length,
    unknowable: missed.length - missing.length,
    foundByPolls: found.filter(({ truth: { id } }) => !announced.has(id)),
    unreportedEndsMs: ends.flatMap(({ isReported, ms }) => (isReported || ms === undefined ? [] : [ms])),
    reportedErrorsMs: [
      ...starts.map(Math.abs),
      ...ends.flatMap(({ isReported, ms }) => (isReported && ms !== undefined ? [Math.abs(ms)] : [])),
    ],
  };
}

function findUnknown(recorded: readonly RecordedStream[], trueIds: ReadonlySet<string>): Difference[] {
  const seen = new Set<string>();
  return recorded.flatMap(({ streamId }): Difference[] => {
    if (seen.has(streamId)) return [{ kind: 'duplicate', streamId }];
    seen.add(streamId);
    return trueIds.has(streamId) ? [] : [{ kind: 'unknown', streamId }];
  });
}

/** Whether a look-up happened during the stream. True for a running stream, because a look-up will follow. */
function isSeenByPolls({ startedAt, endedAt }: TrueStream, lookUps: readonly number[]): boolean {
  if (endedAt === null) return true;
  return lookUps.some((at) => at > startedAt + lookUpMarginMs && at < endedAt - lookUpMarginMs);
}

interface EndComparison {
  isReported: boolean;
  /** The delay of the recorded end; undefined when no end can be compared. */
  ms?: number;
  difference?: Difference;
}

/**
 * Compares the end of a stream. If a message reported the end, the recorded end must be the time of the message. Otherwise, the service
 * must know the end by the next report: a poll, or the start or end of a later stream.
 */
function compareEnd(
  { stream, truth }: { stream: RecordedStream; truth: TrueStream },
  { events, recorded }: StreamerEvidence,
): EndComparison[] {
  const { streamId, endedAt } = stream;
  if (truth.endedAt === null) {
    return endedAt === null ? [] : [{ isReported: false, difference: { kind: 'not running', streamId } }];
  }
  if (endedAt === null) return [{ isReported: false, difference: { kind: 'still running', streamId } }];
  const trueEnd = truth.endedAt;
  const ms = endedAt - trueEnd;
  const ends = events.filter(({ kind }) => kind === 'offline').map(({ at }) => at);
  const isNear = (at: number, time: number): boolean => Math.abs(at - time) <= timeToleranceMs;
  const isReported = ends.some((at) => isNear(at, trueEnd));
  const nextReports = [...ends, ...recorded.map(({ startedAt }) => startedAt)].filter((at) => at >= trueEnd);
  const isNextReport = nextReports.some((at) => isNear(at, endedAt));
  const isRight = isReported
    ? isNear(endedAt, trueEnd)
    : ms >= -timeToleranceMs && (ms <= pollToleranceMs || isNextReport);
  return [{ isReported, ms, ...(!isRight && { difference: { kind: 'end', streamId, ms } }) }];
}

function checkTime(kind: 'start', { streamId }: RecordedStream, ms: number): Difference[] {
  return Math.abs(ms) <= timeToleranceMs ? [] : [{ kind, streamId, ms }];
}
