import { lookUpStreams, lookUpUsers } from '@stream-events/contracts';
import { attemptTimeMs, callLimits, circuitRestMs, refusalPauseMs, retryPauseMs } from './retry-schedule.js';

describe('retryPauseMs', () => {
  it('doubles up to 4 s, minus a random share of up to half', () => {
    expect([1, 2, 3, 4, 5].map((failed) => retryPauseMs(failed, 1))).toEqual([
      500, 1_000, 2_000, 4_000, 4_000,
    ]);
    expect([1, 2, 3, 4, 5].map((failed) => retryPauseMs(failed, 0))).toEqual([250, 500, 1_000, 2_000, 2_000]);
  });
});

describe('attemptTimeMs', () => {
  it('returns the attempt’s own timeout, or the time left, or nothing when too little time is left', () => {
    expect(attemptTimeMs(callLimits.users, 3_500)).toBe(3_000);
    expect(attemptTimeMs(callLimits.users, 2_000.75)).toBe(2_000);
    expect(attemptTimeMs(callLimits.users, 999)).toBeUndefined();
  });
});

describe('limits of calls', () => {
  it('end before the caller gives up', () => {
    expect(callLimits.users.totalMs).toBeLessThan(lookUpUsers.timeoutMs);
    expect(callLimits.streams.totalMs).toBeLessThan(lookUpStreams.timeoutMs);
  });

  it('allow for all attempts and pauses of a background call', () => {
    const { attempts, attemptMs, totalMs } = callLimits.create_subscription;

    expect(attempts * attemptMs + retryPauseMs(1, 1) + retryPauseMs(2, 1)).toBeLessThanOrEqual(totalMs);
  });
});

describe('refusalPauseMs', () => {
  it('grows from 30 s to 10 min', () => {
    expect([1, 2, 3, 4, 5, 6, 60].map(refusalPauseMs)).toEqual([
      30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000,
    ]);
  });
});

describe('circuitRestMs', () => {
  it('grows from 1 s to 30 s', () => {
    expect([0, 1, 2, 3, 4, 5, 60].map(circuitRestMs)).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
    ]);
  });
});
