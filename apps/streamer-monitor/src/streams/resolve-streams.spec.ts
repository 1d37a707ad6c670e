import { resolveEnds } from './resolve-streams.js';
import {
  addMiss,
  missesOnceAnnounced,
  prolongAbsence,
  streamRowId,
  type StreamFacts,
} from './stream-facts.js';

const second = 1_000;
const minute = 60 * second;

function stream(startedAt: number, facts: Partial<StreamFacts> = {}): StreamFacts {
  return {
    streamId: String(startedAt),
    startedAt,
    announcedAt: null,
    seenAt: null,
    missedAt: null,
    isMissConfirmed: false,
    ...facts,
  };
}

const unnamed = (at: number) => ({ streamId: null, at });
const named = (startedAt: number, at: number) => ({ streamId: String(startedAt), at });

describe('resolveEnds', () => {
  it('keeps a stream running until a fact shows that it ended', () => {
    expect(resolveEnds([stream(0)], [])).toEqual([null]);
    expect(resolveEnds([stream(0, { missedAt: 400 * second })], [])).toEqual([null]);
    expect(resolveEnds([], [unnamed(7)])).toEqual([]);
  });

  it('prefers the event that names the stream over all other facts', () => {
    const gone = { missedAt: 20 * minute, isMissConfirmed: true };

    expect(resolveEnds([stream(0, gone)], [unnamed(10 * minute), named(0, 15 * minute)])).toEqual([
      15 * minute,
    ]);
    expect(resolveEnds([stream(0)], [named(0, 9), named(0, 7)])).toEqual([7]);
    expect(resolveEnds([stream(0)], [named(5, 7)])).toEqual([null]);
  });

  it('prefers an unnamed event to a single miss long before the event', () => {
    const missedOnce = stream(0, { seenAt: 119 * minute, missedAt: 120 * minute });

    expect(resolveEnds([missedOnce, stream(365 * minute)], [unnamed(360 * minute)])).toEqual([
      360 * minute,
      null,
    ]);
    expect(resolveEnds([missedOnce, stream(365 * minute)], [])).toEqual([120 * minute, null]);
  });

  it('ends a stream at the first unnamed event before the next stream', () => {
    const streams = [stream(0), stream(10 * minute), stream(20 * minute)];
    const offline = [unnamed(18 * minute), unnamed(15 * minute), unnamed(20 * minute)];

    expect(resolveEnds(streams, offline)).toEqual([10 * minute, 15 * minute, 20 * minute]);
  });

  it('ignores an event that a poll contradicts, and uses the next one', () => {
    const seen = stream(0, { seenAt: 6 * minute });

    expect(resolveEnds([seen], [unnamed(minute)])).toEqual([null]);
    expect(resolveEnds([seen], [named(0, minute)])).toEqual([null]);
    expect(resolveEnds([seen], [unnamed(minute), unnamed(30 * minute)])).toEqual([30 * minute]);
    expect(resolveEnds([seen], [unnamed(minute + 1)])).toEqual([minute + 1]);
  });

  it('reopens a stream that was announced again after the offline event, until the next one', () => {
    const resumed = stream(0, { announcedAt: 73 * second });

    for (const event of [named(0, 28 * second), unnamed(28 * second)]) {
      expect(resolveEnds([resumed], [event])).toEqual([null]);
      expect(resolveEnds([resumed], [event, unnamed(40 * minute)])).toEqual([40 * minute]);
      expect(resolveEnds([resumed], [named(0, 40 * minute), event])).toEqual([40 * minute]);
    }
    expect(resolveEnds([resumed], [named(0, 73 * second)])).toEqual([73 * second]);
    expect(resolveEnds([resumed], [unnamed(74 * second)])).toEqual([74 * second]);
  });

  it('ignores an announcement from after the next start, because only one stream can run', () => {
    const repeated = stream(0, { announcedAt: 11 * minute });

    expect(resolveEnds([repeated, stream(10 * minute)], [named(0, 9 * minute)])).toEqual([9 * minute, null]);
  });

  it('ends a stream at its first miss once the miss is confirmed', () => {
    const facts = { seenAt: 0, missedAt: 2 * minute };

    expect(resolveEnds([stream(0, { ...facts, isMissConfirmed: true })], [])).toEqual([2 * minute]);
    expect(resolveEnds([stream(0, facts), stream(90 * minute)], [])).toEqual([2 * minute, null]);
  });

  it('does not prolong a stream by an event long after its first miss', () => {
    const gone = stream(0, { missedAt: 2 * minute, isMissConfirmed: true });

    expect(resolveEnds([gone], [unnamed(3 * 24 * 60 * minute)])).toEqual([2 * minute]);
    expect(resolveEnds([gone], [unnamed(7 * minute)])).toEqual([7 * minute]);
    expect(resolveEnds([gone], [named(0, 60 * minute)])).toEqual([60 * minute]);
  });

  it('assigns an unnamed event within 10 s after a start to the previous stream if that stream has no end', () => {
    const streams = [stream(0), stream(10 * minute)];
    const late = unnamed(10 * minute + 3 * second);
    const own = unnamed(12 * minute);

    expect(resolveEnds(streams, [late])).toEqual([10 * minute, null]);
    expect(resolveEnds(streams, [own, late])).toEqual([10 * minute, 12 * minute]);
    expect(resolveEnds(streams, [late, named(10 * minute, 11 * minute)])).toEqual([10 * minute, 11 * minute]);
    expect(resolveEnds(streams, [unnamed(9 * minute), late])).toEqual([9 * minute, late.at]);
    expect(resolveEnds(streams, [named(0, 9 * minute), late])).toEqual([9 * minute, late.at]);
    expect(resolveEnds([stream(0, { missedAt: 9 * minute }), stream(10 * minute)], [late])).toEqual([9 * minute, late.at]); // prettier-ignore
    expect(resolveEnds(streams, [unnamed(10 * minute + 10 * second)])).toEqual([10 * minute, 10 * minute + 10 * second]); // prettier-ignore
    expect(resolveEnds([stream(10 * minute)], [late])).toEqual([late.at]);
  });

  it('assigns such an event to the new stream when polls have not seen that stream since', () => {
    const late = unnamed(10 * minute + 3 * second);
    const gone = { missedAt: 15 * minute, isMissConfirmed: true };
    const endsWith = (facts: Partial<StreamFacts>, ...more: { streamId: null; at: number }[]) =>
      resolveEnds([stream(0), stream(10 * minute, facts)], [late, ...more]);

    expect(endsWith(gone)).toEqual([10 * minute, late.at]);
    expect(endsWith({ ...gone, seenAt: 11 * minute })).toEqual([10 * minute, 15 * minute]);
    expect(endsWith(gone, unnamed(12 * minute))).toEqual([10 * minute, 12 * minute]);
  });

  it('resolves several restarts in a row', () => {
    const streams = [stream(0), stream(minute), stream(2 * minute), stream(3 * minute)];
    const late = [minute, 2 * minute, 3 * minute].map((at) => unnamed(at + second));

    expect(resolveEnds(streams, late)).toEqual([minute, 2 * minute, 3 * minute, null]);
  });

  it('ignores a miss after the next start', () => {
    const streams = [stream(0, { seenAt: 0, missedAt: 11 * minute }), stream(10 * minute)];

    expect(resolveEnds(streams, [unnamed(10 * minute + second)])).toEqual([10 * minute, null]);
  });

  it('ends a stream at the next start at the latest, and never before its own start', () => {
    const missedLate = stream(0, { missedAt: 5 * minute, isMissConfirmed: true });

    expect(resolveEnds([stream(0), stream(minute)], [])).toEqual([minute, null]);
    expect(resolveEnds([missedLate, stream(minute)], [])).toEqual([minute, null]);
    expect(resolveEnds([stream(0), stream(minute)], [named(0, 2 * minute)])).toEqual([minute, null]);
    expect(resolveEnds([stream(minute)], [named(minute, 0)])).toEqual([minute]);
  });
});

describe('addMiss', () => {
  it('counts a miss only when the platform should have listed the stream', () => {
    const { startedAt, ...begun } = stream(0);

    expect(addMiss({ startedAt, ...begun }, 5 * minute - 1).missedAt).toBeNull();
    expect(addMiss({ startedAt, ...begun }, 5 * minute).missedAt).toBe(5 * minute);
    expect(addMiss(stream(0, { seenAt: second }), 2 * second).missedAt).toBe(2 * second);
  });

  it('counts no miss within 5 min of the latest announcement until a poll has seen the stream since', () => {
    const resumed = { seenAt: 20 * minute, announcedAt: 30 * minute };

    expect(addMiss(stream(0, resumed), 35 * minute - 1).missedAt).toBeNull();
    expect(addMiss(stream(0, resumed), 35 * minute).missedAt).toBe(35 * minute);
    expect(addMiss(stream(0, { ...resumed, seenAt: 31 * minute }), 32 * minute).missedAt).toBe(32 * minute);
  });

  it('confirms a miss when a second poll at least 20 s later misses the stream', () => {
    const once = addMiss(stream(0, { seenAt: 0 }), minute);

    expect(addMiss(once, minute + 20 * second - 1)).toMatchObject({
      missedAt: minute,
      isMissConfirmed: false,
    });
    const twice = addMiss(once, minute + 20 * second);
    expect(twice).toMatchObject({ missedAt: minute, isMissConfirmed: true });
    expect(addMiss(twice, 9 * minute)).toEqual(twice);
  });

  it('keeps the second of two misses when polls failed in between', () => {
    const once = addMiss(stream(0, { seenAt: 0 }), minute);

    const later = addMiss(once, 4 * 60 * minute);
    expect(later).toMatchObject({ missedAt: 4 * 60 * minute, isMissConfirmed: true });
    expect(addMiss(later, 5 * 60 * minute)).toEqual(later);
  });

  it('starts again from a miss that is earlier than the first one, because a clock was set back', () => {
    const ahead = stream(0, { seenAt: 0, missedAt: 60 * minute });

    const first = addMiss(ahead, minute);
    expect(first).toMatchObject({ missedAt: minute, isMissConfirmed: false });
    expect(addMiss(first, 2 * minute)).toMatchObject({ missedAt: minute, isMissConfirmed: true });
    const confirmed = stream(0, { seenAt: 0, missedAt: 60 * minute, isMissConfirmed: true });
    expect(addMiss(confirmed, 61 * minute)).toEqual(confirmed);
  });
});

describe('missesOnceAnnounced', () => {
  const none = { missedAt: null, isMissConfirmed: false };
  const absence = { since: 0, until: 60 * minute };

  it('counts earlier polls without a stream as misses of a stream whose announcement arrives late', () => {
    const missesOf = (at: number) =>
      missesOnceAnnounced(undefined, { startedAt: at, announcedAt: at }, absence);

    expect(missesOf(10 * minute)).toEqual({ missedAt: 15 * minute, isMissConfirmed: true });
    expect(missesOf(-20 * minute)).toEqual({ missedAt: 0, isMissConfirmed: true });
    expect(missesOf(55 * minute)).toEqual({ missedAt: 60 * minute, isMissConfirmed: false });
    expect(missesOf(56 * minute)).toEqual(none);
    expect(missesOnceAnnounced(undefined, { startedAt: 0, announcedAt: 0 }, null)).toEqual(none);
  });

  it('replaces the misses from before a stream was announced again, and keeps later ones', () => {
    const missed = stream(0, { announcedAt: 0, missedAt: 20 * minute, isMissConfirmed: true });
    const again = (announcedAt: number, known = missed, polls: typeof absence | null = null) =>
      missesOnceAnnounced(known, { startedAt: 0, announcedAt }, polls);

    expect(again(21 * minute)).toEqual(none);
    expect(again(16 * minute)).toEqual(none);
    expect(again(21 * minute, missed, absence)).toEqual({ missedAt: 26 * minute, isMissConfirmed: true });
    expect(again(15 * minute)).toMatchObject({ missedAt: 20 * minute, isMissConfirmed: true });
    expect(again(16 * minute, { ...missed, seenAt: 17 * minute })).toMatchObject({ missedAt: 20 * minute });
  });

  it('keeps the misses when an announcement is repeated or an older one arrives', () => {
    const disabled = stream(0, { announcedAt: 2 * minute, missedAt: 3 * minute, isMissConfirmed: true });

    for (const announcedAt of [2 * minute, minute])
      expect(missesOnceAnnounced(disabled, { startedAt: 0, announcedAt }, absence)).toBe(disabled);
  });

  it('starts a new absence after a gap between polls', () => {
    const absence = { since: 0, until: 10 * minute };

    expect(prolongAbsence(absence, 12 * minute)).toEqual({ since: 0, until: 12 * minute });
    expect(prolongAbsence(absence, 12 * minute + 1)).toEqual({
      since: 12 * minute + 1,
      until: 12 * minute + 1,
    });
    expect(prolongAbsence(null, 1)).toEqual({ since: 1, until: 1 });
  });

  it('starts an absence at the latest poll when a clock was set back', () => {
    const ahead = { since: 60 * minute, until: 70 * minute };

    expect(prolongAbsence(ahead, minute)).toEqual({ since: minute, until: minute });
  });
});

describe('streamRowId', () => {
  it('returns the same id for starts in the same second, and ids that sort by start', () => {
    const id = streamRowId('7', '42', 1_700_000_000_000);

    expect(streamRowId('7', '42', 1_700_000_000_999)).toBe(id);
    expect(streamRowId('8', '42', 1_700_000_000_000)).not.toBe(id);
    expect(streamRowId('7', '41', 1_700_000_001_000) > id).toBe(true);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });
});
