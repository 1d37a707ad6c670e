import { readFileSync } from 'node:fs';

/** Reads a data file of this folder. The specs of the callers check that the data matches its type. */
export function readData(name: string): unknown {
  // The data files stay in src. This relative path works from src and from dist.
  return JSON.parse(
    readFileSync(new URL(`../../../src/twitch/catalogue/${name}.json`, import.meta.url), 'utf8'),
  );
}
