import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

// The fastest first: a Chromium build without windows, in which pages use 20% less CPU time than in regular Chromium.
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

/** Finds the fastest installed browser for tests. Returns undefined if none is installed. */
export function findTestBrowser(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}
