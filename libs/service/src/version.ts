import { readFileSync } from 'node:fs';

/** The version of the service: the one of this package, which is the same in all packages. */
export const version = readVersion();

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version; // Safe cast: the file is ours.
}
