import fc from 'fast-check';
import { epoch, listed, offline, online } from '../../test/said.js';
import { MonitorStore } from '../../test/monitor-store.js';
import type { Streamer } from '../streamers/streamer.entity.js';
import { lateWordMs } from './stream-facts.js';
import { StreamRecorder, type StreamEvent } from './stream-recorder.service.js';

const second = 1_000;
const minute = 60 * second;
const pollEvery = 45 * second;

/** What the platform knows of a stream, and what becomes of its two events. */
interface TrueStream {
  id: string;
  startedAt: number;
  endedAt: number;
  /** How long the platform's list is late at its start and end. */
  listedAfter: number;
  listedFor: number;
  online: Delivery;
  offline: Delivery & { isNamed: boolean };
}

/** When an event arrives after it happened, each time that it does: never, once or twice. */
interface Delivery {
  delays: number[];
}

interface History {
  streams: TrueStream[];
  /** Polls fail in this time. */
  outage: { from: number; until: number };
}

const seconds = (min: number, max: number) => fc.integer({ min, max }).map((count) => count * second);
const delivered = fc.array(seconds(0, 1_200), { minLength: 1, maxLength: 2 });
const maybeLost = fc.oneof(fc.constant<number[]>([]), delivered);

function histories(delays: fc.Arbitrary<number[]>): fc.Arbitrary<History> {
  const stream = fc.record({
    pause: fc.oneof(seconds(1, 60), seconds(60, 900)),
    length: fc.oneof(seconds(5, 120), seconds(120, 900)),
    listedAfter: seconds(0, 120),
    listedFor: seconds(0, 120),
    online: fc.record({ delays }),
    offline: fc.record({ delays, isNamed: fc.boolean() }),
  });
  const outage = fc.record({ from: seconds(0, 2_000), length: fc.oneof(fc.constant(0), seconds(0, 900)) });
  return fc.record({ streams: fc.array(stream, { minLength: 1, maxLength: 3 }), outage }).map((drawn) => {
    let now = 0;
    const streams = drawn.streams.map(({ pause, length, ...stream }, index) => {
      const startedAt = now + pause;
      now = startedAt + length;
      return { ...stream, id: `stream-${index}`, startedAt, endedAt: now };
    });
    return { streams, outage: { from: drawn.outage.from, until: drawn.outage.from + drawn.outage.length } };
  });
}

/** What the platform's list says of the streamer at a time. */
function listAt({ streams }: History, at: number): TrueStream | undefined {
  return streams.findLast(
    ({ startedAt, endedAt, listedAfter, listedFor }) =>
      at >= startedAt + listedAfter && at < endedAt + listedFor,
  );
}

interface Step {
  at: number;
  run: () => Promise<unknown>;
}

let store: MonitorStore;
beforeAll(async () => {
  store = await MonitorStore.create();
});
afterAll(() => store.close());

function pollSteps(streamer: Streamer, history: History, until: number): Step[] {
  const times = Array.from({ length: Math.ceil(until / pollEvery) }, (_, index) => index * pollEvery);
  const { from, until: end } = history.outage;
  return times
    .filter((at) => at < from || at >= end)
    .map((at) => ({ at, run: () => poll(streamer, listAt(history, at), at) }));
}

function poll({ id, platformId, ...streamer }: Streamer, live: TrueStream | undefined, at: number) {
  const streams = live
    ? [listed({ ...streamer, id, platformId }, live.id, live.startedAt, { viewerCount: at / second })]
    : [];
  const claim = { claimedUntil: 0, streamers: [{ id, platformId }] };
  return store.polls.record(claim, { streams, askedAt: epoch + at });
}

function eventSteps(streamer: Streamer, { streams }: History): Step[] {
  const deliver = (event: StreamEvent, happenedAt: number, { delays }: Delivery): Step[] =>
    delays.map((delay) => ({ at: happenedAt + delay, run: () => store.recorder.recordEvent(event) }));
  return streams.flatMap((stream) => {
    const name = stream.offline.isNamed ? stream.id : undefined;
    return [
      ...deliver(online(streamer, stream.id, stream.startedAt), stream.startedAt, stream.online),
      ...deliver(offline(streamer, stream.endedAt, name), stream.endedAt, stream.offline),
    ];
  });
}

async function play(history: History): Promise<{ streamer: Streamer; end: number }> {
  const streamer = await store.addStreamer();
  const events = eventSteps(streamer, history);
  const lastEvent = Math.max(0, ...events.map(({ at }) => at), history.outage.until);
  const lastEnd = Math.max(...history.streams.map(({ endedAt, listedFor }) => endedAt + listedFor));
  // Five minutes in which a poll need not have listed a stream, and two polls.
  const end = Math.max(lastEvent, lastEnd) + 5 * minute + 2 * pollEvery;
  const steps = [...events, ...pollSteps(streamer, history, end + 1)].sort((one, other) => one.at - other.at);
  for (const step of steps) await step.run();
  return { streamer, end };
}

async function readStreams(streamer: Streamer) {
  return (await store.streamsOf(streamer)).map(({ streamId, startedAt, endedAt }) => ({
    id: streamId,
    startedAt: startedAt.getTime() - epoch,
    endedAt: endedAt && endedAt.getTime() - epoch,
  }));
}

/**
 * The latest time at which polls must have noticed that a stream is over, by the rules alone. An outage makes it later, also of
 * what was over before, when one learns of it afterwards.
 */
function latestNotice({ outage }: History, { startedAt, endedAt, listedFor, online }: TrueStream): number {
  const missable = Math.max(endedAt + listedFor, startedAt + 5 * minute) + pollEvery;
  const announcedAt = startedAt + Math.min(...online.delays);
  const isInOutage = Math.max(missable, announcedAt) >= outage.from;
  return isInOutage ? Math.max(missable, outage.until + pollEvery) : missable;
}

/** Which polls had missed a stream is forgotten when the next one is seen: one that is announced only then ends by the next start. */
function isAnnouncedAfterNext({ streams }: History, { startedAt, online }: TrueStream): boolean {
  const announcedAt = startedAt + Math.min(...online.delays);
  return streams.some((other) => other.startedAt > startedAt && other.startedAt <= announcedAt);
}

/** An event without a name that comes soon after the start may be about the former stream, of whose end nobody has said anything. */
function isEndSaid({ streams }: History, { startedAt, endedAt, offline }: TrueStream): boolean {
  if (offline.delays.length === 0) return false;
  const isAnyEndUnsaid = streams.some(
    (other) => other.startedAt < startedAt && other.offline.delays.length === 0,
  );
  return offline.isNamed || endedAt >= startedAt + lateWordMs || !isAnyEndUnsaid;
}

describe(StreamRecorder.name, () => {
  it('records exactly the true streams, however late, often and disordered events come, and whatever polls say', async () => {
    await fc.assert(
      fc.asyncProperty(histories(delivered), async (history) => {
        const { streamer } = await play(history);

        const truth = history.streams.map(({ id, startedAt, endedAt }) => ({ id, startedAt, endedAt }));
        expect(await readStreams(streamer)).toEqual(truth);
        expect((await store.streamer(streamer)).streaming).toBe(false);
      }),
      { numRuns: 40 },
    );
  }, 120_000);

  it('records the true streams when all events come in one heap in any order, without a single poll', async () => {
    const heaps = histories(delivered).chain((history) =>
      fc.tuple(
        fc.constant(history),
        fc.shuffledSubarray(
          history.streams.flatMap((_, index) => [2 * index, 2 * index + 1]),
          { minLength: 2 * history.streams.length },
        ),
      ),
    );
    await fc.assert(
      fc.asyncProperty(heaps, async ([{ streams }, order]) => {
        const streamer = await store.addStreamer();
        const events = streams.flatMap((stream) => [
          online(streamer, stream.id, stream.startedAt),
          offline(streamer, stream.endedAt, stream.offline.isNamed ? stream.id : undefined),
        ]);
        for (const place of order) await store.recorder.recordEvent(events[place]!);

        const truth = streams.map(({ id, startedAt, endedAt }) => ({ id, startedAt, endedAt }));
        expect(await readStreams(streamer)).toEqual(truth);
      }),
      { numRuns: 100 },
    );
  }, 60_000);

  it('records the true streams of a streamer who comes back before the platform has said that the former stream is over', async () => {
    const gaps = fc.array(seconds(1, lateWordMs / second - 1), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(gaps, fc.infiniteStream(fc.nat()), async (lateBy, places) => {
        const streamer = await store.addStreamer();
        const starts = [0, ...lateBy].map((_, index) => index * minute);
        const events = starts.flatMap((startedAt, index) => [
          online(streamer, `stream-${index}`, startedAt),
          offline(streamer, startedAt + minute + (lateBy[index] ?? 0)),
        ]);
        while (events.length > 0) {
          const [event] = events.splice(places.next().value % events.length, 1);
          await store.recorder.recordEvent(event!);
        }

        expect((await readStreams(streamer)).map(({ startedAt, endedAt }) => [startedAt, endedAt])).toEqual(
          starts.map((startedAt) => [startedAt, startedAt + minute]),
        );
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  it('records what it is told of when events are lost: none twice, none open for ever, no end far from the truth', async () => {
    await fc.assert(
      fc.asyncProperty(histories(maybeLost), async (history) => {
        const { streamer } = await play(history);

        const recorded = await readStreams(streamer);
        const truth = new Map(history.streams.map((stream) => [stream.id, stream]));
        expect(new Set(recorded.map(({ id }) => id)).size).toBe(recorded.length);
        for (const { id, startedAt, endedAt } of recorded) {
          const stream = truth.get(id)!;
          expect(startedAt).toBe(stream.startedAt);
          if (isEndSaid(history, stream)) expect(endedAt).toBe(stream.endedAt);
          expect(endedAt).toBeGreaterThanOrEqual(stream.endedAt);
          // An event without a name, of a stream that nobody knows, may come 5 min after polls have missed this one.
          if (!isAnnouncedAfterNext(history, stream))
            expect(endedAt).toBeLessThanOrEqual(latestNotice(history, stream) + 5 * minute);
        }
        const told = history.streams.filter(({ online: { delays } }) => delays.length > 0);
        expect(recorded.map(({ id }) => id)).toEqual(expect.arrayContaining(told.map(({ id }) => id)));
        expect((await store.streamer(streamer)).streaming).toBe(false);
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});
