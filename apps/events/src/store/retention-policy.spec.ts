import fc from 'fast-check';
import { RetentionPolicy } from './retention-policy.js';

const hour = 3_600_000;
const day = 24 * hour;
const noon = Date.UTC(2026, 2, 10, 12);

describe(RetentionPolicy.name, () => {
  describe('cutoff', () => {
    it.each([
      [1, noon, Date.UTC(2026, 2, 9)],
      [30, noon, Date.UTC(2026, 1, 8)],
      [30, Date.UTC(2026, 2, 10), Date.UTC(2026, 1, 8)],
      [30, Date.UTC(2026, 2, 11) - 1, Date.UTC(2026, 1, 8)],
      [400, noon, Date.UTC(2025, 1, 3)],
    ])('keeps today and the %i days before it', (days, now, cutoff) => {
      expect(new RetentionPolicy(days).cutoff(now)).toBe(cutoff);
    });

    it('keeps every event for at least the configured days, and for less than one day more', () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 3_650 }), fc.nat(4e12), (days, now) => {
          const kept = now - (new RetentionPolicy(days).cutoff(now) ?? NaN);
          expect(kept).toBeGreaterThanOrEqual(days * day);
          expect(kept).toBeLessThan((days + 1) * day);
        }),
      );
    });
  });

  it('keeps everything when the number of days is 0', () => {
    const { forever } = RetentionPolicy;

    expect([forever.cutoff(noon), forever.deadLetterCutoff(noon)]).toEqual([undefined, undefined]);
    expect(forever.limitStreamAge(365)).toBe(365 * day);
  });

  it.each([
    [0, 'month'],
    [1, 'day'],
    [89, 'day'],
    [90, 'month'],
    [3_650, 'month'],
  ])('divides events that are kept for %i days into partitions of one %s', (days, width) => {
    expect(new RetentionPolicy(days).partitionWidth).toBe(width);
  });

  it.each([
    [1, noon - 30.5 * day],
    [30, noon - 30.5 * day],
    [31, noon - 31.5 * day],
  ])('keeps dead letters for 30 days, or for the %i days that events are kept if longer', (days, cutoff) => {
    expect(new RetentionPolicy(days).deadLetterCutoff(noon)).toBe(cutoff);
  });

  it('never keeps an event on the stream longer than in the store, when it is published within an hour', () => {
    fc.assert(
      fc.property(
        fc.record({
          days: fc.integer({ min: 1, max: 3_650 }),
          maxAgeDays: fc.integer({ min: 1, max: 365 }),
          receivedAt: fc.nat(4e12),
          delay: fc.nat(hour),
        }),
        ({ days, maxAgeDays, receivedAt, delay }) => {
          const policy = new RetentionPolicy(days);
          const expiresAt = receivedAt + delay + policy.limitStreamAge(maxAgeDays);
          // The store keeps the event until the stream drops it.
          expect(policy.cutoff(expiresAt - 1)).toBeLessThanOrEqual(receivedAt);
          expect(policy.limitStreamAge(maxAgeDays)).toBeLessThanOrEqual(maxAgeDays * day);
          expect(policy.limitStreamAge(maxAgeDays)).toBeGreaterThan(0);
        },
      ),
    );
  });

  it('leaves the age of the stream alone when the store keeps events longer', () => {
    expect(new RetentionPolicy(30).limitStreamAge(7)).toBe(7 * day);
    expect(new RetentionPolicy(7).limitStreamAge(7)).toBe(7 * day - hour);
    expect(new RetentionPolicy(1).limitStreamAge(7)).toBe(day - hour);
  });
});
