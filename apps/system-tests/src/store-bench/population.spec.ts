import fc from 'fast-check';
import {
  choosePopulation,
  messageId,
  monthsOf,
  rangesOf,
  rewardId,
  startOf,
  type Population,
} from './population.js';

const populations = fc
  .record({
    events: fc.integer({ min: 100, max: 20_000_000 }),
    months: fc.integer({ min: 2, max: 70 }),
    now: fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2040, 0, 1) }),
  })
  .map(({ events, months, now }) => choosePopulation(events, months, now));

/** Arrival time of an event, as the SQL statement computes it. */
function timeOf(number: number, population: Population): number {
  const { events, until } = population;
  const from = startOf(population);
  return from + Number((BigInt(number - 1) * BigInt(until - from)) / BigInt(events));
}

describe(monthsOf.name, () => {
  it('returns adjoining months, of which the last one contains the last event', () => {
    fc.assert(
      fc.property(populations, (population) => {
        const months = monthsOf(population);
        expect(months).toHaveLength(population.months);
        months.slice(1).forEach((month, index) => {
          expect(month.from).toBe(months[index]?.to);
        });
        expect(months.at(-1)?.from).toBeLessThan(population.until);
        expect(months.at(-1)?.to).toBeGreaterThanOrEqual(population.until);
      }),
    );
  });

  it('names the months as the service names its partitions', () => {
    const months = monthsOf(choosePopulation(100, 3, Date.UTC(2026, 0, 31, 12)));
    expect(months.map(({ name }) => name)).toEqual(['events_2025_11', 'events_2025_12', 'events_2026_01']);
  });
});

describe(rangesOf.name, () => {
  it('contains every event once, each in the month in which it arrives', () => {
    fc.assert(
      fc.property(populations, (population) => {
        const ranges = rangesOf(population).filter(({ count }) => count > 0);
        for (const { month, first, count } of ranges) {
          expect(timeOf(first, population)).toBeGreaterThanOrEqual(month.from);
          expect(timeOf(first + count - 1, population)).toBeLessThan(month.to);
        }
        const ends = ranges.map(({ first, count }) => first + count);
        expect(ranges.map(({ first }) => first)).toEqual([1, ...ends.slice(0, -1)]);
        expect(ends.at(-1)).toBe(population.events + 1);
      }),
    );
  });
});

describe(messageId.name, () => {
  it('looks like a UUID', () => {
    expect(messageId(1)).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  });
});

describe(rewardId.name, () => {
  it('contains the channel and the number in hexadecimal', () => {
    expect(rewardId(1_001, 17)).toBe('000003e9-0000-4000-8000-000000000011');
  });
});
