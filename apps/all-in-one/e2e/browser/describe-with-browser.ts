import { jest } from '@jest/globals';
import { findTestBrowser } from '@stream-events/testing';

const executablePath = findTestBrowser();

// A test takes many steps in a browser, and each takes seconds when several test files share two cores.
const browserTestLimitMs = 420_000;

/**
 * Declares specs that need a browser, and passes its path to them. Without a browser on this machine, they are skipped. Sets the time limit
 * of all tests of the file.
 */
export function describeWithBrowser(title: string, declare: (executablePath: string) => void): void {
  jest.setTimeout(browserTestLimitMs);
  if (executablePath !== undefined) describe(title, () => declare(executablePath));
  else describe.skip(`${title} (skipped: there is no Chromium on this machine)`, () => declare(''));
}
