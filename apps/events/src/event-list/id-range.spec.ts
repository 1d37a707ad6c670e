import { firstIdAt, lastMillisecond } from '@stream-events/contracts';
import fc from 'fast-check';
import { validate as isUuid, NIL, v7 } from 'uuid';
import { idBetween, positionAt, rangeAbove, rangeBelow, rangeOf } from './id-range.js';

const highest = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const id = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11';
const before = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c10';
const after = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c12';

describe(rangeOf.name, () => {
  it.each([
    ['no position: everything', {}, { from: NIL, to: highest }],
    ['older', { position: { direction: 'older', id, inclusive: false } }, { from: NIL, to: before }],
    ['older, inclusive', { position: { direction: 'older', id, inclusive: true } }, { from: NIL, to: id }],
    ['newer', { position: { direction: 'newer', id, inclusive: false } }, { from: after, to: highest }],
    [
      'newer, inclusive',
      { position: { direction: 'newer', id, inclusive: true } },
      { from: id, to: highest },
    ],
  ] as const)('returns the ids after a position: %s', (_, request, expected) => {
    expect(rangeOf({ filters: {}, ...request })).toEqual(expected);
  });

  it('combines the position with since, which is inclusive, and until, which is not', () => {
    const filters = { since: 1_000, until: 2_000 };
    const to = '00000000-07cf-ffff-ffff-ffffffffffff';

    expect(rangeOf({ filters })).toEqual({ from: firstIdAt(1_000), to });
    expect(rangeOf({ filters, position: { direction: 'older', id: firstIdAt(1_500), inclusive: true } })).toEqual({ from: firstIdAt(1_000), to: firstIdAt(1_500) }); // prettier-ignore
    expect(rangeOf({ filters, position: { direction: 'older', id, inclusive: true } })).toEqual({ from: firstIdAt(1_000), to }); // prettier-ignore
    expect(rangeOf({ filters, position: { direction: 'newer', id: firstIdAt(1_500), inclusive: true } })).toEqual({ from: firstIdAt(1_500), to }); // prettier-ignore
  });

  it.each([
    ['until the beginning of time', { filters: { until: 0 } }],
    ['since after until', { filters: { since: 5, until: 4 } }],
    ['since equal to until', { filters: { since: 5, until: 5 } }],
    ['before the lowest id', { filters: {}, position: { direction: 'older', id: NIL, inclusive: false } }],
    [
      'after the highest id',
      { filters: {}, position: { direction: 'newer', id: highest, inclusive: false } },
    ],
  ] as const)('returns null for an empty range: %s', (_, request) => {
    expect(rangeOf(request)).toBeNull();
  });
});

describe(positionAt.name, () => {
  it('divides the ids of events exactly at the boundary, and is a valid UUID', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: lastMillisecond }), (milliseconds) => {
        const boundary = firstIdAt(milliseconds);
        const [older, newer] = [positionAt(boundary, true), positionAt(boundary, false)];
        const [last, first] = [v7({ msecs: milliseconds - 1 }), v7({ msecs: milliseconds })];

        expect(isUuid(older) && isUuid(newer)).toBe(true);
        // The next page must stay out of the partition on the other side of the boundary, or it would end at the same boundary again.
        const range = { from: NIL, to: highest };
        const below = rangeBelow(range, older);
        const above = rangeAbove(range, newer);
        expect(below && last <= below.to && below.to < boundary).toBe(true);
        expect(above && first >= above.from && above.from >= boundary).toBe(true);
      }),
    );
  });
});

describe(idBetween.name, () => {
  const anyId = fc.integer({ min: 1, max: lastMillisecond }).map((msecs) => v7({ msecs }));

  it('returns a UUID between two ids, in another millisecond or in the same one', () => {
    fc.assert(
      fc.property(anyId, anyId, fc.boolean(), (one, other, isSameTime) => {
        const [low, high] = [one, isSameTime ? one.slice(0, 14) + other.slice(14) : other].sort();
        if (low === undefined || high === undefined || low === high) return;
        const between = idBetween(high, low);

        expect(isUuid(between)).toBe(true);
        expect(between > low && between < high).toBe(true);
        expect(idBetween(low, high)).not.toBe(between);
      }),
    );
  });

  it('returns the higher one of neighboring ids', () => {
    const high = '019aa3c1-7f5e-7cc2-8000-000000000000';
    expect(idBetween('019aa3c1-7f5e-7cc1-bfff-ffffffffffff', high)).toBe(high);
    expect(idBetween(high, high)).toBe(high);
  });
});
