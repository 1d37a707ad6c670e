import { readFileSync } from 'node:fs';
import TestSequencer from '@jest/test-sequencer';

/**
 * Runs the slowest test files first, so that no slow file runs alone at the end. Jest sorts by the durations of the previous run. On a new
 * machine, Jest has no durations and sorts by size. Small end-to-end specs would then start last, although each takes half a minute.
 */
export default class SlowestFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.every(({ duration }) => duration !== undefined)) return spread(sorted);
    const weighted = sorted.map((test) => ({ test, weight: estimateWeight(test) }));
    return spread(weighted.sort((a, b) => b.weight - a.weight).map(({ test }) => test));
  }
}

// Files that start a browser are among the slowest, and each browser takes a whole core. If several of them ran together, the servers of
// all other files would get too little CPU time.
const filesBetweenBrowsers = 3;

/** Puts other files between the files that start a browser, so that they do not start together. */
function spread(tests) {
  const inOrder = tests.filter((test) => !usesBrowser(test));
  for (const [place, test] of tests.filter(usesBrowser).entries())
    inOrder.splice(place * (filesBetweenBrowsers + 1), 0, test);
  return inOrder;
}

function usesBrowser({ path }) {
  return path.includes('/e2e/') && readFileSync(path, 'utf8').includes('describeWithBrowser(');
}

// Estimated seconds per byte of a file, relative to integration specs.
const endToEndFactor = 3;
const unitFactor = 0.05;

function estimateWeight({ path, context }) {
  const bytes = context.hasteFS.getSize(path) ?? 0;
  if (path.includes('/e2e/')) return bytes * endToEndFactor;
  return path.endsWith('.int.spec.ts') ? bytes : bytes * unitFactor;
}
