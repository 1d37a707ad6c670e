import { firstIdAt, receivedAt } from '@stream-events/contracts';
import fc from 'fast-check';
import { partitionAt, partitionsAhead } from './partitions.js';

describe(partitionAt.name, () => {
  it.each([
    ['the first moment of a month', Date.UTC(2025, 2, 1), 'events_2025_03'],
    ['the last moment of a month', Date.UTC(2025, 3, 1) - 1, 'events_2025_03'],
    ['the last moment of a year', Date.UTC(2026, 0, 1) - 1, 'events_2025_12'],
    ['the first moment of a year', Date.UTC(2026, 0, 1), 'events_2026_01'],
    ['the 29th of February', Date.UTC(2024, 1, 29, 12), 'events_2024_02'],
    ['the Unix epoch', 0, 'events_1970_01'],
  ])('puts %s into its UTC month', (_, at, name) => {
    expect(partitionAt(at).name).toBe(name);
  });

  it('ends where the next partition begins, even at the end of a year', () => {
    expect(partitionAt(Date.UTC(2025, 11, 31))).toEqual({
      name: 'events_2025_12',
      from: firstIdAt(Date.UTC(2025, 11)),
      to: firstIdAt(Date.UTC(2026, 0)),
    });
    expect(partitionAt(Date.UTC(2026, 0)).from).toBe(partitionAt(Date.UTC(2025, 11)).to);
  });

  it('contains the ids of its time range, for any time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (at) => {
        const { from, to } = partitionAt(at);
        expect(firstIdAt(at) >= from && firstIdAt(at) < to).toBe(true);
        expect(partitionAt(receivedAt(from)).name).toBe(partitionAt(at).name);
        expect(partitionAt(receivedAt(to) - 1).name).toBe(partitionAt(at).name);
      }),
    );
  });
});

describe(partitionsAhead.name, () => {
  it.each([
    ['on the first', Date.UTC(2025, 10, 1), ['events_2025_11', 'events_2025_12']],
    ['in December', Date.UTC(2025, 11, 31, 23, 59), ['events_2025_12', 'events_2026_01']],
    // The next month has no 31st, but must not be skipped.
    ['on the 31st', Date.UTC(2025, 0, 31, 12), ['events_2025_01', 'events_2025_02']],
  ])('returns this month and the next month %s', (_, at, names) => {
    expect(partitionsAhead(at).map((partition) => partition.name)).toEqual(names);
  });
});
