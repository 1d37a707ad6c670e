import { parseRetryAfter, reconnectDelay } from './reconnect-delay.js';

describe(reconnectDelay.name, () => {
  const bounds = (attempts: number): number[] =>
    [0, 1].map((chance) => reconnectDelay(attempts, () => chance));

  it.each([
    [0, 500],
    [1, 1_000],
    [4, 8_000],
    [5, 10_000],
    [5_000, 10_000],
  ])('is between 250 ms and a limit that doubles: after %d attempts', (attempts, ceiling) => {
    expect(bounds(attempts)).toEqual([250, ceiling]);
  });
});

describe(parseRetryAfter.name, () => {
  const now = Date.parse('2026-11-21T07:30:00Z');

  it.each([
    ['3', 3_000],
    ['0', 0],
    ['Sat, 21 Nov 2026 07:30:05 GMT', 5_000],
    ['Sat, 21 Nov 2026 07:29:00 GMT', 0],
    ['86400', 300_000],
    ['soon', undefined],
    [null, undefined],
  ])('takes %j as %j ms', (header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });
});
