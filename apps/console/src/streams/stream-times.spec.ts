import { bandsOf, printStreamDuration, readSamples, sampleAt, shareOf } from './stream-times.js';

const start = Date.UTC(2026, 10, 20, 18);
const at = (minutes: number): string =>
  `${new Date(start + minutes * 60_000).toISOString().slice(0, 19)}+0000`;
const sample = (minutes: number, viewer_count: number, title: string, game_name = 'Chess') => ({
  at: at(minutes),
  viewer_count,
  title,
  game_id: '1',
  game_name,
});
const end = start + 60 * 60_000;
const samples = readSamples(
  [sample(1, 10, 'First'), sample(5, 30, 'First'), sample(20, 20, 'Second'), sample(70, 5, 'Late')],
  { start, end },
);

describe('readSamples', () => {
  it('leaves out what polls saw after the end', () => {
    expect(samples.map(({ viewers }) => viewers)).toEqual([10, 30, 20]);
  });
});

describe('sampleAt', () => {
  it('returns the sample that holds, and none before the first one', () => {
    expect(sampleAt(samples, start + 6 * 60_000)?.viewers).toBe(30);
    expect(sampleAt(samples, end)?.viewers).toBe(20);
    expect(sampleAt(samples, start)).toBeUndefined();
  });
});

describe('bandsOf', () => {
  it('joins samples with the same text, until the next one or the end', () => {
    expect(bandsOf(samples, end, 'title')).toEqual([
      { text: 'First', start: start + 60_000, end: start + 20 * 60_000 },
      { text: 'Second', start: start + 20 * 60_000, end },
    ]);
    expect(bandsOf(samples, end, 'category')).toEqual([{ text: 'Chess', start: start + 60_000, end }]);
    expect(bandsOf([], end, 'title')).toEqual([]);
  });
});

describe('shareOf', () => {
  it('stays within the range, also when the range is empty', () => {
    expect(
      [start - 1, start, (start + end) / 2, end + 1].map((time) => shareOf(time, { start, end })),
    ).toEqual([0, 0, 0.5, 1]);
    expect(shareOf(start, { start, end: start })).toBe(0);
  });
});

describe('printStreamDuration', () => {
  it.each([
    [0, 'under a minute'],
    [61, '1 min'],
    [3 * 3_600 + 12 * 60 + 59, '3 h 12 min'],
  ])('prints %d seconds as %s', (seconds, text) => {
    expect(printStreamDuration(seconds)).toBe(text);
  });
});
