import fc from 'fast-check';
import { clientShare, dayOf, mebibyte, StorageBudgets, StorageLimitError } from './storage-budgets.js';

const noon = Date.UTC(2026, 10, 23, 12);
const dayMs = 86_400_000;

describe(StorageBudgets.name, () => {
  let now: number;

  function setup({
    perDay = 10,
    maxBytes = Infinity,
  }: { perDay?: number; maxBytes?: number } = {}): StorageBudgets {
    now = noon;
    const budgets = new StorageBudgets(perDay * mebibyte, () => now);
    if (maxBytes < Infinity) budgets.learnStream({ maxBytes, maxAgeMs: 7 * dayMs });
    return budgets;
  }

  /** Stores one MiB at a time until a limit refuses one. Returns how many were stored, and the error. */
  function fill(budgets: StorageBudgets, userId: string): { stored: number; refusal: StorageLimitError } {
    for (let stored = 0; ; stored += 1) {
      try {
        budgets.take(userId, mebibyte);
      } catch (error) {
        if (!(error instanceof StorageLimitError)) throw error;
        return { stored, refusal: error };
      }
    }
  }

  describe('the limit of a user per day', () => {
    it('refuses what exceeds it, and says which limit, its value, and when to try again', () => {
      const { stored, refusal } = fill(setup(), 'ada');

      expect(stored).toBe(10);
      expect(refusal).toMatchObject({
        code: 'too_many_requests',
        limit: 'per_day',
        retryAfterSeconds: 12 * 3_600,
      });
      expect(refusal.detail).toBe(
        'You have stored 10.0 MiB today. The limit is 10.0 MiB per user and day (MAX_STORED_MB_PER_DAY). Retry after midnight UTC.',
      );
    });

    it('applies to each user on its own', () => {
      const budgets = setup();
      fill(budgets, 'ada');

      expect(fill(budgets, 'bob').stored).toBe(10);
    });

    it('is new after midnight UTC, even for what was counted and not written', () => {
      const budgets = setup();
      fill(budgets, 'ada');
      now += 12 * 3_600_000;

      expect(fill(budgets, 'ada').stored).toBe(10);
      expect(new Set(budgets.flush().map(({ day }) => day))).toEqual(new Set(['2026-11-23', '2026-11-24']));
    });

    it('keeps the new day when the clock steps back over midnight', () => {
      const budgets = setup();
      now += 12 * 3_600_000;
      fill(budgets, 'ada');
      now -= 5_000;

      expect(fill(budgets, 'ada').stored).toBe(0);
    });

    it('follows a clock that was days ahead and is set back', () => {
      const budgets = setup();
      now += 10 * 24 * 3_600_000;
      fill(budgets, 'ada');
      now -= 10 * 24 * 3_600_000;
      expect(fill(budgets, 'ada').stored).toBe(10);
      now += 24 * 3_600_000;

      expect(fill(budgets, 'ada').stored).toBe(10);
    });

    it('counts what other gateways have stored, once it is known', () => {
      const budgets = setup();
      budgets.learnToday('2026-11-23', new Map([['ada', 7 * mebibyte]]));

      expect(fill(budgets, 'ada').stored).toBe(3);
    });

    it('stays in force between writing and reading, and after a failed write', () => {
      const budgets = setup();
      budgets.take('ada', 9 * mebibyte);
      const written = budgets.flush();
      expect(written).toEqual([{ day: '2026-11-23', userId: 'ada', bytes: 9 * mebibyte }]);
      expect(() => budgets.take('ada', 2 * mebibyte)).toThrow(StorageLimitError);
      budgets.restore(written);
      expect(() => budgets.take('ada', 2 * mebibyte)).toThrow(StorageLimitError);
      expect(budgets.flush()).toEqual(written);
    });

    it('does not count what is taken back', () => {
      const budgets = setup();
      for (let count = 0; count < 100; count += 1) budgets.take('ada', 10 * mebibyte)();

      expect(fill(budgets, 'ada').stored).toBe(10);
    });
  });

  describe('the share of the EVENTS stream', () => {
    const maxBytes = 400 * mebibyte;

    it('gives one user half of a tenth of the stream, and leaves the rest to others', () => {
      const budgets = setup({ perDay: 1_000, maxBytes });
      const { stored, refusal } = fill(budgets, 'ada');

      expect(stored).toBe(20);
      expect(refusal).toMatchObject({
        code: 'too_many_requests',
        limit: 'events_share',
        retryAfterSeconds: 12 * 3_600,
      });
      expect(refusal.detail).toContain(
        'all users is 40.0 MiB, which is 10 % of the EVENTS stream (EVENTS_MAX_GB)',
      );
      expect(fill(budgets, 'bob').stored).toBe(10);
      expect(fill(budgets, 'eve').stored).toBe(5);
    });

    it('never lets all users together have more than a tenth of the stream', () => {
      const events = fc.array(fc.tuple(fc.nat(20), fc.integer({ min: 1, max: mebibyte })), {
        maxLength: 2_000,
      });
      fc.assert(
        fc.property(events, (list) => {
          const budgets = setup({ perDay: 1_000, maxBytes: 20 * mebibyte });
          for (const [user, bytes] of list) {
            try {
              budgets.take(String(user), bytes);
            } catch (error) {
              expect(error).toBeInstanceOf(StorageLimitError);
            }
          }
          expect(budgets.total).toBeLessThanOrEqual(20 * mebibyte * clientShare);
        }),
        { numRuns: 50 },
      );
    });

    it('counts the days that can still be on the stream', () => {
      const budgets = setup({ perDay: 1_000, maxBytes });
      expect(budgets.days).toEqual({ today: '2026-11-23', first: '2026-11-16' });
      budgets.learnEarlier('2026-11-23', new Map([['ada', 12 * mebibyte]]));

      expect(fill(budgets, 'ada').stored).toBe(8);
    });

    it('still counts a day after midnight', () => {
      const budgets = setup({ perDay: 15, maxBytes });
      fill(budgets, 'ada');
      budgets.flush();
      now += dayMs;

      expect(fill(budgets, 'ada').stored).toBe(5);
    });

    it('ignores what was read for another day', () => {
      const budgets = setup();
      fill(budgets, 'ada');
      budgets.flush();
      budgets.learnToday('2026-11-22', new Map());

      expect(fill(budgets, 'ada').stored).toBe(0);
    });
  });
});

describe(dayOf.name, () => {
  it.each([
    [Date.UTC(2026, 0, 1), '2026-01-01'],
    [Date.UTC(2026, 0, 1) - 1, '2025-12-31'],
  ])('of %d is %s in UTC', (ms, day) => {
    expect(dayOf(ms)).toBe(day);
  });
});
