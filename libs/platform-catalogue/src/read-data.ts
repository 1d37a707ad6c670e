import { readFileSync } from 'node:fs';

/** Reads a file of this package's own data, which the package's tests check against its type. */
export function readData(name: string): unknown {
  // The same place as seen from src and from dist.
  return JSON.parse(readFileSync(new URL(`../data/${name}.json`, import.meta.url), 'utf8'));
}
