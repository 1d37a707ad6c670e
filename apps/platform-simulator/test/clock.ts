import { jest } from '@jest/globals';

/**
 * Stops `Date.now()` in this process until `jest.restoreAllMocks()`. The simulator reads the time there for tokens, rate limits, faults of
 * the API, and streams, so tests do not depend on the machine's speed. Timers continue.
 *
 * @returns a function that advances the clock by milliseconds
 */
export function stopClock(): (ms: number) => void {
  let now = Date.now();
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  return (ms) => {
    now += ms;
  };
}

/**
 * Lengthens timers with the delay `fromMs` until `jest.restoreAllMocks()`. Use it for a time limit of the simulator that could end before
 * the test's next step on a slow machine.
 */
export function lengthenTimers(fromMs: number, toMs = 120_000): void {
  const original = globalThis.setTimeout;
  const replacement = (act: () => void, ms?: number): NodeJS.Timeout =>
    original(act, ms === fromMs ? toMs : ms);
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(replacement);
}
