import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

// A Chromium build that cannot open windows. In this build, pages take a fifth less processor time.
const headlessShell = 'chromium-headless-shell';

/** Finds the regular Chromium or Chrome on this machine. Returns undefined if there is none. */
export function findBrowser(): string | undefined {
  return findProgram(names);
}

/** Finds the Chromium that runs tests fastest. Returns undefined if this machine has no Chromium or Chrome. */
export function findTestBrowser(): string | undefined {
  return findProgram([headlessShell, ...names]);
}

function findProgram(wanted: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return wanted.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}
