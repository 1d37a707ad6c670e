import { readFileSync } from 'node:fs';

const swc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
delete swc.exclude;

const shared = {
  rootDir: import.meta.dirname,
  modulePathIgnorePatterns: ['<rootDir>/(apps|libs)/[^/]+/dist/'],
  testEnvironment: '<rootDir>/tools/jest-environment.mjs',
  testEnvironmentOptions: { customExportConditions: ['@stream-events/source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '\\.ts$': ['@swc/jest', { ...swc, swcrc: false }] },
  setupFiles: ['reflect-metadata'],
};

const withServers = {
  ...shared,
  globalSetup: '<rootDir>/libs/testing/dist/jest-global-setup.js',
  globalTeardown: '<rootDir>/libs/testing/dist/jest-global-teardown.js',
};

// The end-to-end specs that `npm test` runs. They show what clients rely on every day. `npm run test:all` also runs the others: of rare
// events, of whole installations, and of pages.
const central = [
  ...['access', 'alarms', 'audit-log', 'catalogue-api', 'crash', 'dead-letters', 'event-data'],
  ...['event-export', 'event-filters', 'event-stream-description', 'events-api', 'http'],
  ...['interface', 'live-events', 'live-resume', 'login', 'platform-api', 'raids', 'redelivery'],
  ...['stream-summaries', 'streamers-api', 'streams', 'token-limits', 'tokens'],
  ...['users', 'webhook'],
].map((name) => `apps/all-in-one/e2e/${name}.spec.ts`);

/** The configuration of all tests. tools/test.mjs selects projects. A run that selects only unit tests starts no servers. */
export default {
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/{apps,libs}/*/src/**/*.spec.ts', '!**/*.int.spec.ts'],
    },
    {
      ...withServers,
      displayName: 'central',
      testMatch: [
        '<rootDir>/{apps,libs}/*/src/**/*.int.spec.ts',
        ...central.map((path) => `<rootDir>/${path}`),
      ],
    },
    {
      ...withServers,
      displayName: 'rest',
      testMatch: ['<rootDir>/apps/all-in-one/e2e/**/*.spec.ts', ...central.map((path) => `!**/${path}`)],
    },
    { ...withServers, displayName: 'peers', testMatch: ['<rootDir>/apps/all-in-one/peers/*.spec.ts'] },
  ],
  testSequencer: '<rootDir>/tools/test-sequencer.mjs',
  // Longer than any wait inside a test, so that a test reports its failed expectation instead of a timeout, even on a slow and
  // busy machine.
  testTimeout: 120_000,
  // For the two-core reference machine. Most tests with servers mainly wait, so eight test files keep two cores busy. The test sequencer mixes
  // them with the others.
  maxWorkers: 8,
  // Jest does not free all memory of a test file. Without this limit, the workers grow to 3.6 GB each in a whole run.
  workerIdleMemoryLimit: '1GB',
};
