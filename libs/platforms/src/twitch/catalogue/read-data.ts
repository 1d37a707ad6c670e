import { readFileSync } from 'node:fs';

/** Reads a data file of this folder. Tests check that the data matches its type (see the callers). */
export function readData(name: string): unknown {
  // The data files stay in src. This relative path works from src and from dist.
  return JSON.parse(
    readFileSync(new URL(`../../../src/twitch/catalogue/${name}.json`, import.meta.url), 'utf8'),
  );
}
