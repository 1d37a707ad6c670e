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
    const kinds = new Map();
    for (const test of sorted) {
      const kind = kindOf(test);
      const seconds = Math.max(hasDurations ? test.duration / 1_000 : estimateSeconds(test, kind), 0.001);
      if (!kinds.has(kind)) kinds.set(kind, []);
      kinds.get(kind).push({ test, seconds });
    }
    return mix([...kinds.values()]);
  }
}

/** Takes the next test of the kind that has had the smallest share of its time. */
function mix(kinds) {
  const queues = kinds.map((tests) => ({
    tests: tests.sort((a, b) => b.seconds - a.seconds),
    total: tests.reduce((sum, { seconds }) => sum + seconds, 0),
    taken: 0,
  }));
  const inOrder = [];
  for (;;) {
    const [queue] = queues
      .filter(({ tests }) => tests.length > 0)
      .sort((a, b) => a.taken / a.total - b.taken / b.total);
    if (queue === undefined) return inOrder;
    const { test, seconds } = queue.tests.shift();
    queue.taken += seconds;
    inOrder.push(test);
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
