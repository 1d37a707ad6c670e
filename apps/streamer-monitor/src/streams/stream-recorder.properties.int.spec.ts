import fc from 'fast-check';
import { epoch, listed, offline, online } from '../../test/facts.js';
import { MonitorStore } from '../../test/monitor-store.js';
import type { Streamer } from '../streamers/streamer.entity.js';
import { lateOfflineMs } from './stream-facts.js';
import { StreamRecorder, type StreamEvent } from './stream-recorder.service.js';

const second = 1_000;
const minute = 60 * second;
const pollEvery = 45 * second;

/** A stream as it really was, and the deliveries of its two events. */
interface TrueStream {
  id: string;
  startedAt: number;
  endedAt: number;
  /** How late the platform's list shows the start and the end. */
  listedAfter: number;
  listedFor: number;
  online: Delivery;
  offline: Delivery & { isNamed: boolean };
  interruption: Interruption | null;
}

/** The platform reports an end, and announces the same stream again later. Its list may drop the stream in between. */
interface Interruption {
  from: number;
  until: number;
  isListed: boolean;
  online: Delivery;
  offline: Delivery & { isNamed: boolean };
}

/** The delays with which an event arrives: never, once, or twice. */
interface Delivery {
  delays: number[];
}

interface History {
  streams: TrueStream[];
  /** Polls fail during this time. */
  outage: { from: number; until: number };
}

const seconds = (min: number, max: number) => fc.integer({ min, max }).map((count) => count * second);
const delivered = fc.array(seconds(0, 1_200), { minLength: 1, maxLength: 2 });
const maybeLost = fc.oneof(fc.constant<number[]>([]), delivered);

function histories(delays: fc.Arbitrary<number[]>, interrupted = fc.boolean()): fc.Arbitrary<History> {
  const told = { online: fc.record({ delays }), offline: fc.record({ delays, isNamed: fc.boolean() }) };
  const interruption = fc.record({
    isInterrupted: interrupted,
    // Shares of the stream's length, in percent.
    begin: fc.integer({ min: 1, max: 60 }),
    share: fc.integer({ min: 1, max: 35 }),
    isListed: fc.boolean(),
    ...told,
  });
  const stream = fc.record({
    pause: fc.oneof(seconds(1, 60), seconds(60, 900)),
    length: fc.oneof(seconds(5, 120), seconds(120, 900)),
    listedAfter: seconds(0, 120),
    listedFor: seconds(0, 120),
    ...told,
    interruption,
  });
  const outage = fc.record({ from: seconds(0, 2_000), length: fc.oneof(fc.constant(0), seconds(0, 900)) });
  return fc.record({ streams: fc.array(stream, { minLength: 1, maxLength: 3 }), outage }).map((drawn) => {
    let now = 0;
    const streams = drawn.streams.map(({ pause, length, interruption: drawnBreak, ...stream }, index) => {
      const startedAt = now + pause;
      now = startedAt + length;
      const { isInterrupted, begin, share, ...rest } = drawnBreak;
      const from = startedAt + (length * begin) / 100;
      const interruption = isInterrupted ? { ...rest, from, until: from + (length * share) / 100 } : null;
      return { ...stream, id: `stream-${index}`, startedAt, endedAt: now, interruption };
    });
    return { streams, outage: { from: drawn.outage.from, until: drawn.outage.from + drawn.outage.length } };
  });
}

/** Returns the stream that the platform lists at the given time. */
function listAt({ streams }: History, at: number): TrueStream | undefined {
  return streams.findLast(
    ({ startedAt, endedAt, listedAfter, listedFor, interruption }) =>
      at >= startedAt + listedAfter &&
      at < endedAt + listedFor &&
      !(interruption?.isListed === false && at >= interruption.from && at < interruption.until + listedAfter),
  );
}

interface Step {
  at: number;
  run: () => Promise<unknown>;
}

// On a slow machine, do fewer runs, so that a test ends before its timeout.
const runLimits = { interruptAfterTimeLimit: 60_000 };

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
    const { id, startedAt, endedAt, interruption } = stream;
    const nameIn = ({ isNamed }: { isNamed: boolean }) => (isNamed ? id : undefined);
    const steps = [
      ...deliver(online(streamer, id, startedAt), startedAt, stream.online),
      ...deliver(offline(streamer, endedAt, nameIn(stream.offline)), endedAt, stream.offline),
    ];
    if (!interruption) return steps;
    const { from, until } = interruption;
    return [
      ...steps,
      ...deliver(offline(streamer, from, nameIn(interruption.offline)), from, interruption.offline),
      ...deliver(online(streamer, id, startedAt, { at: until }), until, interruption.online),
    ];
  });
}

async function play(history: History): Promise<{ streamer: Streamer; end: number }> {
  const streamer = await store.addStreamer();
  const events = eventSteps(streamer, history);
  const lastEvent = Math.max(0, ...events.map(({ at }) => at), history.outage.until);
  const lastEnd = Math.max(...history.streams.map(({ endedAt, listedFor }) => endedAt + listedFor));
  // Add the listing lag of 5 min and the time for two polls.
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
 * Returns when polls must have noticed the end of a stream at the latest. An outage delays this, even for a stream that ended before the
 * outage and is announced after it.
 */
function latestNotice({ outage }: History, { startedAt, endedAt, listedFor, online }: TrueStream): number {
  const missable = Math.max(endedAt + listedFor, startedAt + 5 * minute) + pollEvery;
  const announcedAt = startedAt + Math.min(...online.delays);
  const isInOutage = Math.max(missable, announcedAt) >= outage.from;
  return isInOutage ? Math.max(missable, outage.until + pollEvery) : missable;
}

/** A poll that sees the next stream erases earlier misses, so a stream that is announced only afterwards ends at the next start. */
function isAnnouncedAfterNext({ streams }: History, { startedAt, online }: TrueStream): boolean {
  const announcedAt = startedAt + Math.min(...online.delays);
  return streams.some((other) => other.startedAt > startedAt && other.startedAt <= announcedAt);
}

/** An unnamed event soon after a start may belong to a previous stream whose own offline events were lost. */
function isEndSaid({ streams }: History, { startedAt, endedAt, offline }: TrueStream): boolean {
  if (offline.delays.length === 0) return false;
  const isAnyEndUnsaid = streams.some(
    (other) => other.startedAt < startedAt && other.offline.delays.length === 0,
  );
  return offline.isNamed || endedAt >= startedAt + lateOfflineMs || !isAnyEndUnsaid;
}

describe(StreamRecorder.name, () => {
  it('records exactly the true streams when events are late, repeated, and reordered, with any polls', async () => {
    await fc.assert(
      fc.asyncProperty(histories(delivered), async (history) => {
        const { streamer } = await play(history);

        const truth = history.streams.map(({ id, startedAt, endedAt }) => ({ id, startedAt, endedAt }));
        expect(await readStreams(streamer)).toEqual(truth);
        expect((await store.streamer(streamer)).streaming).toBe(false);
      }),
      { numRuns: 40, ...runLimits },
    );
  });

  it('records exactly the true streams when all events arrive at the same time in any order, without polls', async () => {
    await fc.assert(
      fc.asyncProperty(histories(delivered), fc.infiniteStream(fc.nat()), async (history, places) => {
        const streamer = await store.addStreamer();
        const { streams } = history;
        const steps = eventSteps(streamer, history);
        while (steps.length > 0) {
          const [step] = steps.splice(places.next().value % steps.length, 1);
          await step!.run();
        }

        const truth = streams.map(({ id, startedAt, endedAt }) => ({ id, startedAt, endedAt }));
        expect(await readStreams(streamer)).toEqual(truth);
      }),
      { numRuns: 100, ...runLimits },
    );
  });

  it('records exactly the true streams when a streamer restarts before the previous offline event', async () => {
    const gaps = fc.array(seconds(1, lateOfflineMs / second - 1), { minLength: 1, maxLength: 4 });
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
      { numRuns: 60, ...runLimits },
    );
  });

  it('records every announced stream once when events are lost, with an end close to the truth', async () => {
    await fc.assert(
      fc.asyncProperty(histories(maybeLost, fc.constant(false)), async (history) => {
        const { streamer } = await play(history);

        const recorded = await readStreams(streamer);
        const truth = new Map(history.streams.map((stream) => [stream.id, stream]));
        expect(new Set(recorded.map(({ id }) => id)).size).toBe(recorded.length);
        for (const { id, startedAt, endedAt } of recorded) {
          const stream = truth.get(id)!;
          expect(startedAt).toBe(stream.startedAt);
          if (isEndSaid(history, stream)) expect(endedAt).toBe(stream.endedAt);
          expect(endedAt).toBeGreaterThanOrEqual(stream.endedAt);
          // An unnamed event of an unknown stream may count until 5 min after this stream's first miss.
          if (!isAnnouncedAfterNext(history, stream))
            expect(endedAt).toBeLessThanOrEqual(latestNotice(history, stream) + 5 * minute);
        }
        const told = history.streams.filter(({ online: { delays } }) => delays.length > 0);
        expect(recorded.map(({ id }) => id)).toEqual(expect.arrayContaining(told.map(({ id }) => id)));
        expect((await store.streamer(streamer)).streaming).toBe(false);
      }),
      { numRuns: 60, ...runLimits },
    );
  });
});
