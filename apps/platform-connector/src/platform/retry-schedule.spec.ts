import { lookUpStreams, lookUpUsers } from '@stream-events/contracts';
import { attemptTimeMs, callLimits, circuitRestMs, refusalPauseMs, retryPauseMs } from './retry-schedule.js';

describe('retryPauseMs', () => {
  it('doubles up to 4 s, of which a random half is left out', () => {
    expect([1, 2, 3, 4, 5].map((failed) => retryPauseMs(failed, 1))).toEqual([
      500, 1_000, 2_000, 4_000, 4_000,
    ]);
    expect([1, 2, 3, 4, 5].map((failed) => retryPauseMs(failed, 0))).toEqual([250, 500, 1_000, 2_000, 2_000]);
  });
});

describe('attemptTimeMs', () => {
  it('is the attempt’s own time, or what is left, or none when that is too little', () => {
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

  it('have time for all attempts and pauses of what nobody waits for', () => {
    const { attempts, attemptMs, totalMs } = callLimits.create_subscription;

    expect(attempts * attemptMs + retryPauseMs(1, 1) + retryPauseMs(2, 1)).toBeLessThanOrEqual(totalMs);
  });
});

describe('refusalPauseMs', () => {
  it('grows from half a minute to ten', () => {
    expect([1, 2, 3, 4, 5, 6, 60].map(refusalPauseMs)).toEqual([
      30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000,
    ]);
  });
});

describe('circuitRestMs', () => {
  it('grows from a second to half a minute', () => {
    expect([0, 1, 2, 3, 4, 5, 60].map(circuitRestMs)).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
    ]);
  });
});
