import { jest } from '@jest/globals';

/**
 * Stops the clock of this process, which the simulator uses, until `jest.restoreAllMocks()`. Tests then do not depend on the
 * speed of the machine.
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
 * Lengthens the timers of this process that have the given delay, until `jest.restoreAllMocks()`. For a time limit of the simulator that
 * the test does not wait for, and that could end before the test's next step on a slow machine.
 */
export function lengthenTimers(fromMs: number, toMs = 120_000): void {
  const original = globalThis.setTimeout;
  const replacement = (act: () => void, ms?: number): NodeJS.Timeout =>
    original(act, ms === fromMs ? toMs : ms);
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(replacement);
}
