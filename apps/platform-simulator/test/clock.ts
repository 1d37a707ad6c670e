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
