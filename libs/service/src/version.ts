import { readFileSync } from 'node:fs';

/** The version of the service. All packages in this repository share it. */
export const version = readVersion();

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version; // Safe cast: the file is ours.
}
