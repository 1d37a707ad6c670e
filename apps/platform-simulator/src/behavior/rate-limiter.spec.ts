import { TokenBucket } from './rate-limiter.js';

describe(TokenBucket.name, () => {
  describe('take', () => {
    it('gives all points of a full bucket immediately', () => {
      const bucket = new TokenBucket(3, 0);
      expect([1, 2, 3, 4].map(() => bucket.take(0))).toEqual([true, true, true, false]);
    });

    it('gives points back as the bucket refills', () => {
      const bucket = new TokenBucket(60, 0); // refills one point per second
      for (let count = 0; count < 60; count += 1) bucket.take(0);
      expect([999, 1_000, 1_000, 2_000].map((now) => bucket.take(now))).toEqual([false, true, false, true]);
    });

    it('never holds more than its capacity', () => {
      const bucket = new TokenBucket(2, 0);
      expect([1, 2, 3].map(() => bucket.take(10_000_000))).toEqual([true, true, false]);
    });
  });

  it('returns the remaining points and the time when it is full', () => {
    const bucket = new TokenBucket(60, 1_000);
    bucket.take(1_000);
    bucket.take(1_000);
    expect([bucket.remaining, bucket.fullAtMs]).toEqual([58, 3_000]);
  });
});
