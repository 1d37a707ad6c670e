import { readFileSync } from 'node:fs';

const swc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
delete swc.exclude;

/** One configuration for unit (.spec.ts), integration (.int.spec.ts) and end-to-end (apps/all-in-one/e2e) tests. */
export default {
  testMatch: ['<rootDir>/{apps,libs}/*/{src,e2e}/**/*.spec.ts'],
  modulePathIgnorePatterns: ['<rootDir>/(apps|libs)/[^/]+/dist/'],
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@stream-events/source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '\\.ts$': ['@swc/jest', { ...swc, swcrc: false }] },
  globalSetup: '<rootDir>/libs/testing/dist/jest-global-setup.js',
  globalTeardown: '<rootDir>/libs/testing/dist/jest-global-teardown.js',
  setupFiles: ['reflect-metadata'],
  // Above what a test waits for, so that it fails with what it has missed, also on a machine that is slow and busy.
  testTimeout: 60_000,
  // More than the two cores that it is measured on: many tests wait for what takes its time.
  maxWorkers: 3,
};
