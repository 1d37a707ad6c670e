import { ReaderPace } from './reader-pace.js';

const kibibyte = 1024;

describe(ReaderPace.name, () => {
  /** Reads for `seconds` at a pace, and returns after how many seconds the reader is too slow. Undefined: never. */
  function measure(kibibytesPerSecond: number, isWaiting: (second: number) => boolean, seconds = 300) {
    const pace = new ReaderPace({ minBytesPerSecond: 16 * kibibyte, slowMs: 30_000 });
    for (let second = 0; second <= seconds; second += 1) {
      const sentBytes = second * kibibytesPerSecond * kibibyte;
      if (pace.isTooSlow({ sentBytes, isWaiting: isWaiting(second) }, second * 1_000)) return second;
    }
    return undefined;
  }

  it.each([
    [0, 30],
    [15, 30],
    [16, undefined],
    [5_000, undefined],
  ])('judges a client that reads %d KiB/s: too slow after %p s', (kibibytesPerSecond, expected) => {
    expect(measure(kibibytesPerSecond, () => true)).toBe(expected);
  });

  it('does not count time in which nothing waits for the client', () => {
    expect(measure(1, () => false)).toBeUndefined();
    expect(measure(1, (second) => second % 30 !== 29)).toBeUndefined();
    expect(measure(1, (second) => second > 100)).toBe(131);
  });

  it('finds a client that becomes slow later', () => {
    const pace = new ReaderPace({ minBytesPerSecond: 100, slowMs: 1_000 });
    const samples = [0, 9_000, 9_050, 9_100].map((sentBytes, index) =>
      pace.isTooSlow({ sentBytes, isWaiting: true }, index * 1_000),
    );

    expect(samples).toEqual([false, false, true, true]);
  });
});
