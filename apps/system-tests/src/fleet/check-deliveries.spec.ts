import { checkDeliveries, type Expectation, type Observation } from './check-deliveries.js';

const event = (sequence: number, changes: Partial<Observation & { kind: 'event' }> = {}): Observation => ({
  kind: 'event',
  epoch: 'new',
  sequence,
  event: 100 + sequence,
  check: 1_000 + sequence,
  ...changes,
});
const old = (sequence: number): Observation => event(sequence, { epoch: 'old' });
const stand = (sequence: number, epoch = 'new'): Observation => ({ kind: 'position', epoch, sequence });
const gap: Observation = { kind: 'gap', reason: 'other_epoch' };
const connected: Observation = { kind: 'connected' };

const wanted = (...sequences: number[]) =>
  sequences.map((sequence) => ({ sequence, event: 100 + sequence, check: 1_000 + sequence }));

/** Of ten events, the client must receive 2, 4, 6, and 8. Tests override single fields. */
const expectation: Expectation = {
  epochs: [{ epoch: 'new', events: wanted(2, 4, 6, 8) }],
  passes: (number) => number % 2 === 0,
};
const twoEpochs: Expectation = {
  ...expectation,
  epochs: [{ epoch: 'old', events: wanted(2, 4, 6) }, ...expectation.epochs],
};

const kindsOf = (seen: Observation[], wants = expectation): string[] =>
  checkDeliveries(seen, wants).map(({ kind }) => kind);

describe(checkDeliveries.name, () => {
  it('returns no findings when every event arrived once and in order, over several connections', () => {
    const seen = [
      connected,
      stand(1),
      event(2),
      event(4),
      connected,
      stand(5),
      event(6),
      connected,
      connected,
      event(8),
      stand(10),
    ];

    expect(kindsOf(seen)).toEqual([]);
  });

  it('does not require events before the first position', () => {
    expect(kindsOf([connected, stand(5), event(6), event(8)])).toEqual([]);
    expect(kindsOf([connected, event(6), event(8)])).toEqual([]);
  });

  it.each([
    ['in the middle', [stand(0), event(2), event(6), event(8)]],
    ['before a position without an event', [stand(0), event(2), stand(5), event(6), event(8)]],
    ['at the end', [stand(0), event(2), event(4), event(6)]],
    ['between two connections', [stand(0), event(2), connected, stand(4), event(6), event(8)]],
  ])('finds an event that is missing %s', (_, seen) => {
    expect(kindsOf([connected, ...seen])).toEqual(['missing']);
  });

  it('names the missing event', () => {
    expect(checkDeliveries([connected, stand(0), event(2), event(6), event(8)], expectation)).toEqual([
      { kind: 'missing', what: 'event 104 at new-4' },
    ]);
  });

  it('finds a client that received nothing', () => {
    expect(kindsOf([connected])).toEqual(['missing']);
  });

  it.each([
    ['on one connection', [event(2), event(2), event(4)]],
    ['on the next connection', [event(2), event(4), connected, event(4)]],
  ])('finds an event that arrived twice %s', (_, seen) => {
    expect(kindsOf([connected, stand(0), ...seen, event(6), event(8)])).toEqual(['doubled', 'reordered']);
  });

  it('finds an event that arrived at two positions', () => {
    const seen = [stand(0), event(2), event(4), event(5, { event: 102 }), event(6), event(8)];

    expect(kindsOf([connected, ...seen])).toEqual(['doubled', 'misplaced']);
  });

  it('finds events in another order than on the stream', () => {
    expect(kindsOf([connected, stand(0), event(4), event(2), event(6), event(8)])).toEqual([
      'missing',
      'reordered',
    ]);
  });

  it('finds a position that goes backward', () => {
    expect(kindsOf([connected, event(2), stand(5), stand(3), event(6), event(8)])).toContain('reordered');
  });

  it('finds an event that does not pass the filter', () => {
    expect(kindsOf([connected, stand(0), event(2), event(3), event(4), event(6), event(8)])).toEqual([
      'foreign',
    ]);
  });

  it.each([
    ['another event', { event: 110 }],
    ['another id', { check: 7 }],
  ])('finds %s in place of an event', (_, changes) => {
    const seen = [stand(0), event(2), event(4, changes), event(6), event(8)];

    expect(kindsOf([connected, ...seen])).toEqual(['misplaced']);
  });

  it('finds an event at a position where the stream has none', () => {
    expect(kindsOf([connected, stand(2), event(4), event(6), event(8), event(12)])).toEqual(['misplaced']);
  });

  it('accepts a gap where an epoch ended, regardless of which events were lost', () => {
    expect(kindsOf([connected, stand(2, 'old'), old(4), gap, event(6), event(8)], twoEpochs)).toEqual([]);
    expect(kindsOf([connected, old(2), connected, gap, stand(7), event(8)], twoEpochs)).toEqual([]);
    // The client received the event, then the stream lost it, then the service published it again.
    expect(kindsOf([connected, old(12), connected, gap, event(6), event(8)], twoEpochs)).toEqual([]);
    // As above, but the gateway notices the loss later.
    const lateNews = [connected, old(12), connected, gap, stand(6, 'old'), gap, gap, stand(6), event(8)];
    expect(kindsOf(lateNews, twoEpochs)).toEqual([]);
  });

  it('accepts, but does not require, an event that was on the stream in an earlier epoch', () => {
    const repeated = {
      ...twoEpochs,
      epochs: [
        { epoch: 'old', events: wanted(2, 4) },
        {
          epoch: 'new',
          events: wanted(2, 4, 6, 8).map((each) => ({ ...each, isRepeated: each.sequence < 6 })),
        },
      ],
    };

    expect(kindsOf([connected, old(2), gap, stand(0), event(6), event(8)], repeated)).toEqual([]);
    expect(kindsOf([connected, old(2), gap, stand(0), event(4), event(6), event(8)], repeated)).toEqual([]);
    expect(kindsOf([connected, old(2), gap, stand(0), event(4), event(8)], repeated)).toEqual(['missing']);
  });

  it('finds missing events before and after a gap', () => {
    expect(kindsOf([connected, stand(0, 'old'), old(4), gap, stand(4), event(8)], twoEpochs)).toEqual([
      'missing',
      'missing',
    ]);
  });

  it('finds an event that arrived twice on one connection with a gap in between', () => {
    expect(kindsOf([connected, old(2), gap, event(2), event(4), event(6), event(8)], twoEpochs)).toEqual([
      'doubled',
    ]);
  });

  it.each([
    ['within an epoch', [stand(0), event(2), gap, event(8)], expectation],
    ['in the last epoch', [old(2), gap, stand(5), gap, event(8)], twoEpochs],
    ['before the first event although nothing was lost', [gap, event(8)], expectation],
  ])('finds a gap without a reason %s', (_, seen, wants) => {
    expect(kindsOf([connected, ...seen], wants)).toEqual(['unexplained gap']);
  });

  it.each([
    ['on a connection', [old(2), event(4), event(6), event(8)]],
    ['between two connections', [old(2), connected, stand(2), event(4), event(6), event(8)]],
    ['at the end', [old(2), old(4), old(6)]],
  ])('finds an epoch that changed without a gap %s', (_, seen) => {
    expect(kindsOf([connected, ...seen], twoEpochs)).toEqual(['silent hole']);
  });

  it('finds a client that received nothing after a gap', () => {
    expect(kindsOf([connected, old(2), gap], twoEpochs)).toEqual(['missing']);
  });
});
