import type { RecordedStream } from './gateway-client.js';
import type { TrueStream } from './simulated-platform.js';
import type { StreamEvent } from './stream-events.js';

/** For one streamer: the true streams, the recorded streams, and what the service was told. */
export interface StreamerEvidence {
  /** In order. */
  truth: readonly TrueStream[];
  recorded: readonly RecordedStream[];
  /** Messages that the service received. */
  events: readonly StreamEvent[];
  /** When the service looked up the streamer on the platform. */
  lookUps: readonly number[];
}

/** A deviation from the true streams that breaks a promise. */
export interface Difference {
  kind: 'missing' | 'unknown' | 'duplicate' | 'not running' | 'still running' | 'start' | 'end';
  /** Id on the platform. */
  streamId: string;
  /** For a wrong start or end: the deviation in milliseconds. */
  ms?: number;
}

export interface Comparison {
  differences: Difference[];
  /** Counts of all true streams, of the recorded ones, and of those that the service could not know about. */
  streams: number;
  recorded: number;
  unknowable: number;
  /** Recorded streams whose online message was lost. Only a poll could find them. */
  foundByPolls: { stream: RecordedStream; truth: TrueStream }[];
  /** For ends without a message: time from the true end to the recorded end, in milliseconds. */
  unreportedEndsMs: number[];
  /** Deviations of all other recorded times, in milliseconds. */
  reportedErrorsMs: number[];
}

/** Tolerance for reported times. The API truncates times to seconds. */
export const timeToleranceMs = 1_100;
/** Tolerance for ends without a message: the poll interval of 45 s, plus 5 s for a busy machine. */
export const pollToleranceMs = 50_000;
// The tap records a call before the platform creates its reply. Ignore look-ups this close to the start or end of a stream.
const lookUpMarginMs = 500;

/** Compares recorded streams with true streams. Ignores what the service could not know. */
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

/** Whether a poll looked up the streamer during the stream. A running stream counts, because a poll will follow. */
function isSeenByPolls({ startedAt, endedAt }: TrueStream, lookUps: readonly number[]): boolean {
  if (endedAt === null) return true;
  return lookUps.some((at) => at > startedAt + lookUpMarginMs && at < endedAt - lookUpMarginMs);
}

interface EndComparison {
  isReported: boolean;
  /** Delay of the recorded end. Undefined if there is no end to compare. */
  ms?: number;
  difference?: Difference;
}

/**
 * Compares the end of a stream. If a message reported the end, the recorded end must be the message's time. If not, the recorded end must
 * be within `pollToleranceMs` after the true end, or equal the time of a later offline message or of a later stream's start.
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
