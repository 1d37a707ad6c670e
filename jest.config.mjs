import { readFileSync } from 'node:fs';

const swc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
delete swc.exclude;

const shared = {
  rootDir: import.meta.dirname,
  modulePathIgnorePatterns: ['<rootDir>/(apps|libs)/[^/]+/dist/'],
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@stream-events/source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '\\.ts$': ['@swc/jest', { ...swc, swcrc: false }] },
  setupFiles: ['reflect-metadata'],
};

/** The configuration of all tests. A run that selects only unit tests starts no servers. */
export default {
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/{apps,libs}/*/src/**/*.spec.ts', '!**/*.int.spec.ts'],
    },
    {
      ...shared,
      displayName: 'servers',
      testMatch: [
        '<rootDir>/{apps,libs}/*/src/**/*.int.spec.ts',
        '<rootDir>/apps/all-in-one/e2e/**/*.spec.ts',
      ],
      testEnvironment: '<rootDir>/libs/testing/dist/jest-environment.js',
      globalSetup: '<rootDir>/libs/testing/dist/jest-global-setup.js',
      globalTeardown: '<rootDir>/libs/testing/dist/jest-global-teardown.js',
    },
  ],
  testSequencer: '<rootDir>/tools/test-sequencer.mjs',
  // Longer than any wait inside a test, so that a test reports its failed expectation instead of a timeout, even on a slow and
  // busy machine.
  testTimeout: 120_000,
  // For the two-core reference machine: about three end-to-end specs, whose services keep the cores busy, and two integration specs, which
  // mainly wait. The test sequencer mixes them.
  maxWorkers: 5,
  // Jest does not free all memory of a test file. Without this limit, the workers grow to 3.6 GB each in a whole run.
  workerIdleMemoryLimit: '1GB',
};
