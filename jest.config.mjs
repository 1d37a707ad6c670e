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

/** One configuration for all tests. A run of unit tests alone starts no servers. */
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
  // Longer than any wait inside a test, so that a test reports its failed expectation, even on a slow and busy machine.
  testTimeout: 60_000,
  // Of the two-core reference machine: many tests mainly wait for polls, timeouts, and servers, but each worker comes with the services
  // and servers of its file. With six workers, servers of a slow machine starved until they did not accept connections in time.
  maxWorkers: 3,
};
