import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

// Best first: without the code for windows, pages take a fifth less processor time.
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

/** Finds the Chromium or Chrome of this machine. Undefined if there is none. */
export function findBrowser(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(existsSync);
}
