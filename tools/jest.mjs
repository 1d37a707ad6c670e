// Runs Jest with the given arguments. `npx nx test <project>` calls this file to test one project. Nx skips the call if the project and its
// dependencies have not changed since the tests passed.
import { fileURLToPath } from 'node:url';
import { root, run } from './prepare.mjs';

/** The projects of jest.config.mjs that each option of tools/test.mjs selects. */
export const tiers = {
  '--central': ['unit', 'central'],
  '--unit': ['unit'],
  '--all': ['unit', 'central', 'rest'],
  '--rest': ['rest'],
  '--peers': ['peers'],
};

export function runJest(args) {
  const options = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    // Loading a test file's modules creates much short-lived garbage. A larger young generation needs fewer collections.
    '--max-semi-space-size=32',
    // Extra garbage collection threads would compete with the workers for the cores, and cost about 5 % more CPU time.
    '--single-threaded-gc',
  ];
  run(process.execPath, [...options, `${root}node_modules/jest/bin/jest.js`, ...args]);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  runJest([...process.argv.slice(2), '--selectProjects', ...tiers['--all']]);
