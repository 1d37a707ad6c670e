import { jest } from '@jest/globals';

/**
 * Stops the clock of this process, by which the simulator tells the time, until `jest.restoreAllMocks()`: what depends on it
 * does not depend on how fast the machine is.
 *
 * @returns what moves it on, by milliseconds
 */
export function stopClock(): (ms: number) => void {
  let now = Date.now();
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  return (ms) => {
    now += ms;
  };
}
