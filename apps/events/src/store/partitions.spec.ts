import { firstIdAt, receivedAt } from '@stream-events/contracts';
import fc from 'fast-check';
import { endOfPartitionsAhead, findPartition, planPartition, type Partition } from './partitions.js';

const hour = 3_600_000;

function plan(at: number, width: 'day' | 'month', existing: Partition[] = []): Partition {
  return planPartition(firstIdAt(at), width, existing);
}

function partition(name: string, from: number, to: number): Partition {
  return { name, from: firstIdAt(from), to: firstIdAt(to) };
}

describe(planPartition.name, () => {
  it.each([
    ['the first moment of a month', Date.UTC(2025, 2, 1), 'events_2025_03', 'events_2025_03_01'],
    ['the last moment of a month', Date.UTC(2025, 3, 1) - 1, 'events_2025_03', 'events_2025_03_31'],
    ['the last moment of a year', Date.UTC(2026, 0, 1) - 1, 'events_2025_12', 'events_2025_12_31'],
    ['the first moment of a year', Date.UTC(2026, 0, 1), 'events_2026_01', 'events_2026_01_01'],
    ['the 29th of February', Date.UTC(2024, 1, 29, 12), 'events_2024_02', 'events_2024_02_29'],
    ['the Unix epoch', 0, 'events_1970_01', 'events_1970_01_01'],
  ])('puts %s into its UTC month or day', (_, at, month, day) => {
    expect(plan(at, 'month').name).toBe(month);
    expect(plan(at, 'day').name).toBe(day);
  });

  it('ends where the next period begins, even at the end of a year', () => {
    expect(plan(Date.UTC(2025, 11, 31), 'month')).toEqual(
      partition('events_2025_12', Date.UTC(2025, 11), Date.UTC(2026, 0)),
    );
    expect(plan(Date.UTC(2025, 11, 31), 'day')).toEqual(
      partition('events_2025_12_31', Date.UTC(2025, 11, 31), Date.UTC(2026, 0)),
    );
  });

  it('begins where a partition of another width ends', () => {
    const days = [
      partition('events_2025_11_24', Date.UTC(2025, 10, 24), Date.UTC(2025, 10, 25)),
      partition('events_2025_11_25', Date.UTC(2025, 10, 25), Date.UTC(2025, 10, 26)),
    ];

    expect(plan(Date.UTC(2025, 10, 28), 'month', days)).toEqual(
      partition('events_2025_11_26', Date.UTC(2025, 10, 26), Date.UTC(2025, 11)),
    );
  });

  it('ends where a partition of another width begins', () => {
    const later = [partition('events_2025_11_25', Date.UTC(2025, 10, 25), Date.UTC(2025, 10, 26))];

    expect(plan(Date.UTC(2025, 10, 3), 'month', later)).toEqual(
      partition('events_2025_11', Date.UTC(2025, 10), Date.UTC(2025, 10, 25)),
    );
  });

  it('contains the id and overlaps no partition, for any ids and widths in any order', () => {
    const time = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2026, 0) });
    const step = fc.record({ at: time, width: fc.constantFrom('day' as const, 'month' as const) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const partitions: Partition[] = [];
        for (const { at, width } of steps) {
          const id = firstIdAt(at);
          if (findPartition(id, partitions)) continue;
          const planned = planPartition(id, width, partitions);
          expect(findPartition(id, [planned])).toBe(planned);
          for (const other of partitions)
            expect(planned.to <= other.from || other.to <= planned.from).toBe(true);
          partitions.push(planned);
        }
        expect(new Set(partitions.map(({ name }) => name)).size).toBe(partitions.length);
      }),
    );
  });

  it('returns a period of whole days for any time that an id can hold', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (at) => {
        for (const width of ['day', 'month'] as const) {
          const { from, to } = plan(at, width);
          expect([receivedAt(from) % (24 * hour), receivedAt(to) % (24 * hour)]).toEqual([0, 0]);
          expect(plan(receivedAt(to) - 1, width).from).toBe(from);
        }
      }),
    );
  });
});

describe(endOfPartitionsAhead.name, () => {
  it.each([
    ['on the first', Date.UTC(2025, 10, 1), Date.UTC(2026, 0), Date.UTC(2025, 10, 9)],
    ['in December', Date.UTC(2025, 11, 31, 23, 59), Date.UTC(2026, 1), Date.UTC(2026, 0, 8)],
    // The next month has no 31st, but must still get a partition.
    ['on the 31st', Date.UTC(2025, 0, 31, 12), Date.UTC(2025, 2), Date.UTC(2025, 1, 8)],
  ])('is the end of the next month, or of the seventh day after today, %s', (_, at, month, day) => {
    expect(endOfPartitionsAhead(at, 'month')).toBe(firstIdAt(month));
    expect(endOfPartitionsAhead(at, 'day')).toBe(firstIdAt(day));
  });
});
