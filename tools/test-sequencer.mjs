import { readFileSync } from 'node:fs';
import TestSequencer from '@jest/test-sequencer';

/**
 * Mixes the kinds of test files, so that each kind is spread over the whole run. An end-to-end spec takes most of a core, and one with a
 * browser a whole core, but an integration spec mainly waits. If end-to-end specs ran only beside one another, their servers would be too
 * slow, and later the cores would be idle. Within a kind, the slowest files run first, so that no slow file runs alone at the end.
 */
export default class MixedKinds extends TestSequencer {
  sort(tests) {
    // Jest's sort also loads the durations of the previous run. On a new machine, there are none.
    const sorted = super.sort(tests);
    const hasDurations = sorted.every(({ duration }) => duration !== undefined);
    const slowestFirst = sorted
      .map((test) => {
        const kind = kindOf(test);
        const seconds = hasDurations ? test.duration / 1_000 : estimateSeconds(test, kind);
        return { test, kind, seconds: Math.max(seconds, 0.001) };
      })
      .sort((a, b) => b.seconds - a.seconds);
    const totals = {};
    for (const each of slowestFirst) {
      each.before = totals[each.kind] ?? 0;
      totals[each.kind] = each.before + each.seconds;
    }
    // A test starts when this share of its kind's time has passed.
    const shareBefore = ({ before, kind }) => before / totals[kind];
    return slowestFirst.sort((a, b) => shareBefore(a) - shareBefore(b)).map(({ test }) => test);
  }
}

function kindOf({ path }) {
  if (path.includes('/e2e/'))
    return readFileSync(path, 'utf8').includes('describeWithBrowser(') ? 'browser' : 'end-to-end';
  return path.endsWith('.int.spec.ts') ? 'integration' : 'unit';
}

// Measured averages.
const secondsPerKilobyte = { browser: 6, 'end-to-end': 2.5, integration: 1, unit: 0.2 };

function estimateSeconds({ path, context }, kind) {
  return ((context.hasteFS.getSize(path) ?? 0) / 1_000) * secondsPerKilobyte[kind];
}
