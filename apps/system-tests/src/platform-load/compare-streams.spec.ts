import { compareStreams, type StreamerEvidence } from './compare-streams.js';

const second = 1_000;
const begun = 1_764_000_000_000;

/** A stream of a minute that was told and recorded as it was; tests say what is different. */
function evidence(changes: Partial<StreamerEvidence> = {}): StreamerEvidence {
  return {
    truth: [{ id: '1', userId: 'u', startedAt: begun, endedAt: begun + 60 * second }],
    recorded: [{ id: 'a', streamId: '1', startedAt: begun, endedAt: begun + 60 * second }],
    events: [
      { kind: 'online', userId: 'u', streamId: '1', at: begun },
      { kind: 'offline', userId: 'u', streamId: null, at: begun + 60 * second },
    ],
    looks: [],
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
  it('finds nothing where everything is as it was', () => {
    expect(compareStreams(evidence())).toMatchObject({
      differences: [],
      streams: 1,
      recorded: 1,
      unknowable: 0,
      foundByPolls: [],
      untoldEndsMs: [],
    });
  });

  it.each([
    ['that a message told', {}],
    ['that a poll saw', { events: [], looks: [begun + 30 * second] }],
    ['that runs, as a poll will see it', { events: [], truth: [{ ...evidence().truth[0]!, endedAt: null }] }],
  ])('finds a stream missing %s', (_, changes) => {
    expect(kindsOf({ recorded: [], ...changes })).toEqual(['missing']);
  });

  it('knows that a stream between two polls which no message told cannot be known', () => {
    const unknown = evidence({ recorded: [], events: [], looks: [begun - second, begun + 61 * second] });

    expect(compareStreams(unknown)).toMatchObject({ differences: [], unknowable: 1 });
  });

  it('finds a stream that never was, and one that is recorded twice', () => {
    const { recorded } = evidence();

    expect(kindsOf({ recorded: [...recorded, { ...recorded[0]!, streamId: '2' }] })).toEqual(['unknown']);
    expect(kindsOf({ recorded: [...recorded, ...recorded] })).toEqual(['doubled']);
  });

  it('finds a stream that runs though it is over, and the other way round', () => {
    const { truth } = evidence();

    expect(kindsOf(recordedUntil(null))).toEqual(['still running']);
    expect(kindsOf({ truth: [{ ...truth[0]!, endedAt: null }] })).toEqual(['not running']);
  });

  it('finds times that are off by more than the second that the API cuts off', () => {
    expect(kindsOf({ recorded: [{ ...evidence().recorded[0]!, startedAt: begun - 3 * second }] })).toEqual([
      'start',
    ]);
    expect(kindsOf(recordedUntil(begun + 62 * second))).toEqual(['end']);
  });

  it('takes an end that no message told for known by the next poll, at the latest', () => {
    const polled = evidence({ events: onlineOnly, ...recordedUntil(begun + 90 * second) });

    expect(compareStreams(polled)).toMatchObject({ differences: [], untoldEndsMs: [30 * second] });
    expect(kindsOf({ events: onlineOnly, ...recordedUntil(begun + 59 * second - 200) })).toEqual(['end']);
    expect(kindsOf({ events: onlineOnly, ...recordedUntil(begun + 120 * second) })).toEqual(['end']);
  });

  it('takes it for known by the end of a later stream that nobody knew of', () => {
    const later = { kind: 'offline', userId: 'u', streamId: null, at: begun + 120 * second } as const;

    expect(kindsOf({ events: [...onlineOnly, later], ...recordedUntil(later.at) })).toEqual([]);
  });

  it('says which streams only polls have found', () => {
    const { foundByPolls } = compareStreams(evidence({ events: [] }));

    expect(foundByPolls.map(({ stream }) => stream.streamId)).toEqual(['1']);
  });
});
