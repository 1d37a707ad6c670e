import { jest } from '@jest/globals';
import { findTestBrowser } from '@stream-events/testing';

const executablePath = findTestBrowser();

// Test limit. A test takes many browser steps, and each step takes seconds when several test files share two cores.
const browserTestLimitMs = 420_000;

/** Declares specs that need a browser, and skips them when this machine has none. Sets the time limit for all tests of the file. */
export function describeWithBrowser(title: string, declare: (executablePath: string) => void): void {
  jest.setTimeout(browserTestLimitMs);
  if (executablePath !== undefined) describe(title, () => declare(executablePath));
  else describe.skip(`${title} (skipped: there is no Chromium on this machine)`, () => declare(''));
}
