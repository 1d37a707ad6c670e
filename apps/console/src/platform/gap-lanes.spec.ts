import { arrangeGaps } from './gap-lanes.js';

const now = Date.parse('2026-11-21T10:00:00Z');
const gap = (source: string, from: string, until: string | null) => ({
  source,
  from: `2026-11-21T${from}:00+0000`,
  until: until && `2026-11-21T${until}:00+0000`,
  reason: '',
});

describe(arrangeGaps.name, () => {
  it('begins with the oldest gap, and ends now', () => {
    const { start, lanes } = arrangeGaps([gap('b', '09:00', null), gap('a', '06:00', '07:00')], now);
    expect(start).toBe(Date.parse('2026-11-21T06:00:00Z'));
    expect(
      lanes.map(({ source, ranges }) => [source, ranges.map(({ left, width }) => [left, width])]),
    ).toEqual([
      ['a', [[0, 25]]],
      ['b', [[75, 25]]],
    ]);
  });

  it('spans at least an hour, so that seconds do not look long', () => {
    const { start, lanes } = arrangeGaps([gap('a', '09:54', '10:00')], now);
    expect(start).toBe(Date.parse('2026-11-21T09:00:00Z'));
    expect(lanes[0]?.ranges[0]).toMatchObject({ left: 90, width: 10 });
  });

  it('cuts a gap whose end lies ahead of the clock of this browser', () => {
    expect(arrangeGaps([gap('a', '09:00', '10:30')], now).lanes[0]?.ranges[0]).toMatchObject({ width: 100 });
  });
});
