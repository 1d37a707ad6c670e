import { keepInWorker } from '@stream-events/testing';
import { chromium, type Browser } from 'playwright-core';

/** Returns the browser that all test files of this Jest worker share. Each file opens and closes contexts of its own. */
export function workerBrowser(executablePath: string): Promise<Browser> {
  // Without these arguments, Chromium contacts its vendor's hosts.
  const args = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  return keepInWorker('browser', () => chromium.launch({ executablePath, args, timeout: 120_000 }));
}
