import TestSequencer from '@jest/test-sequencer';

/**
 * Runs the slowest files first, so that no slow file runs alone at the end. Jest knows the duration of each file from the previous
 * run. On a new machine, Jest sorts by size only and starts small end-to-end specs last, which take half a minute.
 */
export default class SlowestFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.every(({ duration }) => duration !== undefined)) return sorted;
    const weighted = sorted.map((test) => ({ test, weight: estimateWeight(test) }));
    return weighted.sort((a, b) => b.weight - a.weight).map(({ test }) => test);
  }
}

// Seconds per byte, relative to integration specs.
const endToEndFactor = 3;
const unitFactor = 0.05;

function estimateWeight({ path, context }) {
  const bytes = context.hasteFS.getSize(path) ?? 0;
  if (path.includes('/e2e/')) return bytes * endToEndFactor;
  return path.endsWith('.int.spec.ts') ? bytes : bytes * unitFactor;
}
