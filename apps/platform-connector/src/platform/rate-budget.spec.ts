import type { RateLimitReport } from '@stream-events/platforms';
import { block, correct, isNews, newBucket, refill, take, type Bucket } from './rate-budget.js';

const start = 1_000_000;

/** Returns a bucket that refills by 60 calls per minute, one per second. */
function bucketOf(remaining: number, more: Partial<Bucket> = {}): Bucket {
  return { callsPerMinute: 60, remaining, countedAt: start, blockedUntil: null, isReported: true, ...more };
}

/** Takes calls until the bucket refuses one, and returns how many it took. */
function drain(bucket: Bucket, priority: 'interactive' | 'background'): number {
  let current = bucket;
  for (let taken = 0; ; taken += 1) {
    const taking = take(current, priority, start);
    if (!taking.isTaken) return taken;
    current = taking.bucket;
  }
}

describe('refill', () => {
  it.each([
    [0, 0],
    [1_000, 1],
    [30_000, 30],
    [60_000, 60],
    [600_000, 60],
    [-5_000, 0],
  ])('after %d ms gives %d calls', (elapsedMs, remaining) => {
    expect(refill(bucketOf(0), start + elapsedMs).remaining).toBe(remaining);
  });

  it('ends a block when its time has passed', () => {
    const blocked = bucketOf(0, { blockedUntil: start + 1_000 });

    expect(refill(blocked, start + 999).blockedUntil).toBe(start + 1_000);
    expect(refill(blocked, start + 1_000).blockedUntil).toBeNull();
  });

  it('ends a block that is further ahead than the longest block, because the clock was set back', () => {
    const blocked = bucketOf(0, { blockedUntil: start + 120_000 });

    expect(refill(blocked, start).blockedUntil).toBe(start + 120_000);
    expect(refill(blocked, start - 1).blockedUntil).toBeNull();
    expect(block(blocked, 1_000, start - 600_000).blockedUntil).toBe(start - 600_000 + 1_000);
  });
});

describe('take', () => {
  it('gives all calls to interactive callers, and reserves a tenth of the calls for them', () => {
    expect(drain(bucketOf(60), 'interactive')).toBe(60);
    expect(drain(bucketOf(60), 'background')).toBe(54);
  });

  it('returns when the next call is possible', () => {
    expect(take(bucketOf(0), 'interactive', start)).toEqual({ isTaken: false, waitMs: 1_000 });
    expect(take(bucketOf(0.75), 'interactive', start)).toEqual({ isTaken: false, waitMs: 250 });
    expect(take(bucketOf(0), 'background', start)).toEqual({ isTaken: false, waitMs: 7_000 });
    expect(take(bucketOf(0), 'interactive', start + 1_000)).toMatchObject({ isTaken: true });
  });

  it('makes all calls wait while the platform rejects calls', () => {
    const blocked = bucketOf(60, { blockedUntil: start + 20_000 });

    expect(take(blocked, 'interactive', start)).toEqual({ isTaken: false, waitMs: 20_000 });
    expect(take(blocked, 'interactive', start + 20_000)).toMatchObject({ isTaken: true });
  });

  it('gives the only call of the smallest bucket to background callers, too', () => {
    const smallest = bucketOf(1, { callsPerMinute: 1 });

    expect(take(smallest, 'background', start)).toMatchObject({ isTaken: true });
  });

  it('uses the platform’s default until the platform has reported its limit', () => {
    expect(newBucket(start)).toMatchObject({ callsPerMinute: 800, remaining: 800, isReported: false });
  });
});

describe('correct', () => {
  it('lowers the number of calls left, but never raises it, because calls may be in flight', () => {
    const report = { callsPerMinute: 60, remaining: 20 };

    expect(correct(bucketOf(40), report, start).remaining).toBe(20);
    expect(correct(bucketOf(10), report, start).remaining).toBe(10);
  });

  it('takes over the platform’s limit, larger or smaller', () => {
    const assumed = newBucket(start);

    expect(correct(assumed, { callsPerMinute: 30, remaining: 29 }, start)).toMatchObject({
      callsPerMinute: 30,
      remaining: 29,
      isReported: true,
    });
    expect(correct(assumed, { callsPerMinute: 1_200, remaining: 1_199 }, start)).toMatchObject({
      callsPerMinute: 1_200,
      remaining: 800,
    });
  });
});

describe('isNews', () => {
  it.each<[string, Bucket, RateLimitReport, boolean]>([
    ['the first report', bucketOf(60, { isReported: false }), { callsPerMinute: 60, remaining: 60 }, true],
    ['another limit', bucketOf(10), { callsPerMinute: 90, remaining: 80 }, true],
    ['fewer calls left than known', bucketOf(10.9), { callsPerMinute: 60, remaining: 9 }, true],
    ['the same report', bucketOf(10.9), { callsPerMinute: 60, remaining: 10 }, false],
    ['more calls left than known', bucketOf(10), { callsPerMinute: 60, remaining: 11 }, false],
  ])('%s', (_name, bucket, report, expected) => {
    expect(isNews(bucket, report)).toBe(expected);
  });
});

describe('block', () => {
  it('stops all calls until the time that the platform reports, even if calls seemed to be left', () => {
    expect(block(bucketOf(40), 30_000, start)).toMatchObject({
      remaining: 0,
      blockedUntil: start + 30_000,
    });
  });

  it('never blocks for longer than two minutes, and never shortens a block', () => {
    expect(block(bucketOf(40), 1e12, start).blockedUntil).toBe(start + 120_000);
    const blocked = bucketOf(0, { blockedUntil: start + 50_000 });
    expect(block(blocked, 1_000, start).blockedUntil).toBe(start + 50_000);
  });
});
