import type { Stream } from '../streams/stream-queries.js';
import { groupByDay, levelOf, secondsOf, toDay } from './streams-by-day.js';

const print = (at: Date): string => `${at.toISOString().slice(0, 19)}+0000`;

/** Returns a stream that starts at this local time. */
const stream = (start: Date, hours: number | null): Stream => ({
  id: String(start.getTime()),
  stream_id: '1',
  user_id: '2',
  user_login: 'mira',
  user_name: 'Mira',
  game_id: '',
  game_name: '',
  type: 'live',
  title: '',
  viewer_count: 0,
  started_at: print(start),
  ended_at: hours === null ? null : print(new Date(start.getTime() + hours * 3_600_000)),
  language: 'en',
  thumbnail_url: '',
  tag_ids: null,
  is_mature: false,
});

describe('groupByDay', () => {
  it('counts a stream on the day on which it began, also after midnight', () => {
    const late = stream(new Date(2026, 10, 20, 23), 3);
    const early = stream(new Date(2026, 10, 20, 9), 1);
    const running = stream(new Date(2026, 10, 22, 9), null);
    const days = groupByDay([running, late, early], new Date(2026, 10, 22, 11).getTime());
    expect([...days]).toEqual([
      ['2026-11-22', { streams: [running], seconds: 7_200 }],
      ['2026-11-20', { streams: [late, early], seconds: 14_400 }],
    ]);
  });
});

describe('secondsOf', () => {
  it('is never negative, even when the browser’s clock is behind', () => {
    expect(secondsOf(stream(new Date(2026, 10, 20, 9), null), 0)).toBe(0);
  });
});

describe('toDay', () => {
  it('returns the date in the browser’s time zone', () => {
    expect(toDay(new Date(2026, 0, 2, 23, 59).getTime())).toBe('2026-01-02');
  });
});

describe('levelOf', () => {
  it.each([
    [0, 1],
    [7_200, 1],
    [7_201, 2],
    [100_000, 4],
  ])('of %d seconds is %d', (seconds, level) => {
    expect(levelOf(seconds)).toBe(level);
  });
});
