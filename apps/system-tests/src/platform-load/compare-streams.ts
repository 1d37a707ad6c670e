import type { RecordedStream } from './gateway-client.js';
import type { TrueStream } from './simulated-platform.js';
import type { StreamEvent } from './stream-events.js';

/** All that is known about one streamer: what truly happened, what the service heard of it, and what it has recorded. */
export interface StreamerEvidence {
  /** As they truly were, in order. */
  truth: readonly TrueStream[];
  recorded: readonly RecordedStream[];
  /** The messages that arrived. */
  events: readonly StreamEvent[];
  /** When the platform was asked about the streamer. */
  looks: readonly number[];
}

/** What differs from the truth beyond what was promised. */
export interface Difference {
  kind: 'missing' | 'unknown' | 'doubled' | 'not running' | 'still running' | 'start' | 'end';
  /** The platform's id of the stream. */
  streamId: string;
  /** By how much, where it is a time. */
  ms?: number;
}

export interface Comparison {
  differences: Difference[];
  /** True streams, and of those: recorded ones, and those that nobody could know of. */
  streams: number;
  recorded: number;
  unknowable: number;
  /** Recorded streams whose beginning only polls could tell. */
  foundByPolls: { stream: RecordedStream; truth: TrueStream }[];
  /** How late the recorded end is, of streams whose end no message told, in milliseconds. */
  untoldEndsMs: number[];
  /** How far the recorded times are off where a message told them, in milliseconds. */
  toldErrorsMs: number[];
}

/** The API tells times to the second, which it cuts off. */
export const timeToleranceMs = 1_100;
/** An end that no message told: a poll every 45 s, up to 5 s of which a busy machine may need. */
export const pollToleranceMs = 50_000;
// The answer to a call is made some time after the call was seen, and the clock of neither is wrong.
const lookMarginMs = 500;

/** Compares what is recorded of a streamer with the truth, as far as the service could know it. */
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
    (stream) => announced.has(stream.id) || isSeenByPolls(stream, evidence.looks),
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
    untoldEndsMs: ends.flatMap(({ isTold, ms }) => (isTold || ms === undefined ? [] : [ms])),
    toldErrorsMs: [
      ...starts.map(Math.abs),
      ...ends.flatMap(({ isTold, ms }) => (isTold && ms !== undefined ? [Math.abs(ms)] : [])),
    ],
  };
}

function findUnknown(recorded: readonly RecordedStream[], trueIds: ReadonlySet<string>): Difference[] {
  const seen = new Set<string>();
  return recorded.flatMap(({ streamId }): Difference[] => {
    if (seen.has(streamId)) return [{ kind: 'doubled', streamId }];
    seen.add(streamId);
    return trueIds.has(streamId) ? [] : [{ kind: 'unknown', streamId }];
  });
}

/** Whether the platform was asked about the streamer while the stream was on; of one that runs, it will be. */
function isSeenByPolls({ startedAt, endedAt }: TrueStream, looks: readonly number[]): boolean {
  if (endedAt === null) return true;
  return looks.some((at) => at > startedAt + lookMarginMs && at < endedAt - lookMarginMs);
}

interface EndComparison {
  isTold: boolean;
  /** How late the recorded end is; undefined when there is none to compare. */
  ms?: number;
  difference?: Difference;
}

/**
 * An end that a message told is that of the message. One that none told is known by the next word that the service got: a poll, the end
 * of a later stream, or its beginning.
 */
function compareEnd(
  { stream, truth }: { stream: RecordedStream; truth: TrueStream },
  { events, recorded }: StreamerEvidence,
): EndComparison[] {
  const { streamId, endedAt } = stream;
  if (truth.endedAt === null) {
    return endedAt === null ? [] : [{ isTold: false, difference: { kind: 'not running', streamId } }];
  }
  if (endedAt === null) return [{ isTold: false, difference: { kind: 'still running', streamId } }];
  const trueEnd = truth.endedAt;
  const ms = endedAt - trueEnd;
  const ends = events.filter(({ kind }) => kind === 'offline').map(({ at }) => at);
  const isNear = (at: number, time: number): boolean => Math.abs(at - time) <= timeToleranceMs;
  const isTold = ends.some((at) => isNear(at, trueEnd));
  const nextWords = [...ends, ...recorded.map(({ startedAt }) => startedAt)].filter((at) => at >= trueEnd);
  const isNextWord = nextWords.some((at) => isNear(at, endedAt));
  const isFine = isTold
    ? isNear(endedAt, trueEnd)
    : ms >= -timeToleranceMs && (ms <= pollToleranceMs || isNextWord);
  return [{ isTold, ms, ...(!isFine && { difference: { kind: 'end', streamId, ms } }) }];
}

function checkTime(kind: 'start', { streamId }: RecordedStream, ms: number): Difference[] {
  return Math.abs(ms) <= timeToleranceMs ? [] : [{ kind, streamId, ms }];
}
