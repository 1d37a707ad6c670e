import { compareStreams, type StreamerEvidence } from './compare-streams.js';

const second = 1_000;
const begun = 1_764_000_000_000;

/** A one-minute stream, correctly reported and recorded. Tests override single fields. */
function evidence(changes: Partial<StreamerEvidence> = {}): StreamerEvidence {
  return {
    truth: [{ id: '1', userId: 'u', startedAt: begun, endedAt: begun + 60 * second }],
    recorded: [{ id: 'a', streamId: '1', startedAt: begun, endedAt: begun + 60 * second }],
    events: [
      { kind: 'online', userId: 'u', streamId: '1', at: begun },
      { kind: 'offline', userId: 'u', streamId: null, at: begun + 60 * second },
    ],
    lookUps: [],
    ...changes,
  };
}

const recordedUntil = (endedAt: number | null) => ({
  recorded: [{ id: 'a', streamId: '1', startedAt: begun, endedAt }],
});
const onlineOnly = evidence().events.slice(0, 1);
const kindsOf = (changes: Partial<StreamerEvidence>): string[] =>
  compareStreams(evidence(changes)).differences.map(({ kind }) => kind);

describe(compareStreams.name, () => {
  it('finds no difference when everything is recorded correctly', () => {
    expect(compareStreams(evidence())).toMatchObject({
      differences: [],
      streams: 1,
      recorded: 1,
      unknowable: 0,
      foundByPolls: [],
      unreportedEndsMs: [],
    });
  });

  it.each([
    ['that a message reported', {}],
    ['that a poll saw', { events: [], lookUps: [begun + 30 * second] }],
    [
      'that is running, because a poll will see it',
      { events: [], truth: [{ ...evidence().truth[0]!, endedAt: null }] },
    ],
  ])('reports a missing stream %s', (_, changes) => {
    expect(kindsOf({ recorded: [], ...changes })).toEqual(['missing']);
  });

  it('accepts that a stream between two polls without a message cannot be known', () => {
    const unknown = evidence({ recorded: [], events: [], lookUps: [begun - second, begun + 61 * second] });

    expect(compareStreams(unknown)).toMatchObject({ differences: [], unknowable: 1 });
  });

  it('reports an unknown stream and a duplicate', () => {
    const { recorded } = evidence();

    expect(kindsOf({ recorded: [...recorded, { ...recorded[0]!, streamId: '2' }] })).toEqual(['unknown']);
    expect(kindsOf({ recorded: [...recorded, ...recorded] })).toEqual(['duplicate']);
  });

  it('reports a stream that is still running after its end, and one that is not running before it', () => {
    const { truth } = evidence();

    expect(kindsOf(recordedUntil(null))).toEqual(['still running']);
    expect(kindsOf({ truth: [{ ...truth[0]!, endedAt: null }] })).toEqual(['not running']);
  });

  it('reports times that are off by more than the truncation to seconds', () => {
    expect(kindsOf({ recorded: [{ ...evidence().recorded[0]!, startedAt: begun - 3 * second }] })).toEqual([
      'start',
    ]);
    expect(kindsOf(recordedUntil(begun + 62 * second))).toEqual(['end']);
  });

  it('accepts an unreported end up to the next poll', () => {
    const polled = evidence({ events: onlineOnly, ...recordedUntil(begun + 90 * second) });

    expect(compareStreams(polled)).toMatchObject({ differences: [], unreportedEndsMs: [30 * second] });
    expect(kindsOf({ events: onlineOnly, ...recordedUntil(begun + 59 * second - 200) })).toEqual(['end']);
    expect(kindsOf({ events: onlineOnly, ...recordedUntil(begun + 120 * second) })).toEqual(['end']);
  });

  it('accepts an unreported end at the end of a later unknown stream', () => {
    const later = { kind: 'offline', userId: 'u', streamId: null, at: begun + 120 * second } as const;

    expect(kindsOf({ events: [...onlineOnly, later], ...recordedUntil(later.at) })).toEqual([]);
  });

  it('returns the streams that only polls have found', () => {
    const { foundByPolls } = compareStreams(evidence({ events: [] }));

    expect(foundByPolls.map(({ stream }) => stream.streamId)).toEqual(['1']);
  });
});
