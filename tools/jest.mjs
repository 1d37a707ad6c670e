// Runs Jest with the given arguments. npx nx test <project> runs the tests of one project through this file, unless the tests have passed
// since the last change to the project or its dependencies.
import { fileURLToPath } from 'node:url';
import { root, run } from './prepare.mjs';

export function runJest(args) {
  const options = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    // Loading the modules of a test file creates a lot of short-lived garbage, so collect garbage less often.
    '--max-semi-space-size=32',
    // Several workers share two cores. Additional threads for garbage collection would only compete with the workers (which costs about 5 %
    // more processor time).
    '--single-threaded-gc',
  ];
  run(process.execPath, [...options, `${root}node_modules/jest/bin/jest.js`, ...args]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) runJest(process.argv.slice(2));
