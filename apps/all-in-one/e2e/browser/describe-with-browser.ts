import { findTestBrowser } from '@stream-events/testing';

const executablePath = findTestBrowser();

/** Declares specs that need a browser, and passes its path to them. Without a browser on this machine, they are skipped. */
export function describeWithBrowser(title: string, declare: (executablePath: string) => void): void {
  if (executablePath !== undefined) describe(title, () => declare(executablePath));
  else describe.skip(`${title} (skipped: there is no Chromium on this machine)`, () => declare(''));
}
