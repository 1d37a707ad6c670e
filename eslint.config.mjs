import { readdirSync } from 'node:fs';
import js from '@eslint/js';
import nx from '@nx/eslint-plugin';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

/**
 * Which project may import which, by tags. Types:
 *
 *   app       a service; never imports another app
 *   bundle    all-in-one and system-tests, which start the apps
 *   lib       imported by apps; its layer decides which libs it may import
 *   laptop    the embedded servers: only bundles and the test kit use them, so no service depends on them
 *   testing   the test kit, which starts services; only tests import it (see no-restricted-imports)
 *   client    installed by users and run in browsers: imports no other project
 *   page      runs in browsers and uses only the public API: imports only the client, and libs of pages
 *   page-lib  pure functions that several pages need: imports no other project
 *
 * Layers: contracts ← service ← connections (messaging, database) ← features (ingest, platforms). Libs of one layer do not import
 * each other. `npm run check` proves that the rules are active: they must reject the imports in tools/boundary-probe.
 */
const boundaries = [
  allow('type:app', 'type:lib'),
  allow('type:bundle', 'type:lib', 'type:client', 'type:app', 'type:laptop'),
  allow('type:lib', 'type:lib'),
  allow('type:laptop'),
  // The test kit creates the roles of the services as every deployment does.
  allow('type:testing', 'type:laptop', 'layer:service', 'test-setup'),
  allow('type:client'),
  allow('type:page', 'type:client', 'type:page-lib'),
  allow('type:page-lib'),
  allow('layer:contracts'),
  allow('layer:service', 'layer:contracts'),
  allow('layer:connections', 'layer:contracts', 'layer:service'),
  allow('layer:features', 'layer:contracts', 'layer:service', 'layer:connections'),
];

/** Tests of any project may import the test kit. */
function allow(sourceTag, ...tags) {
  return { sourceTag, onlyDependOnLibsWithTags: [...tags, 'type:testing'] };
}

/**
 * The folders of an app, lowest first. A folder may import only from folders before it. Folders that are not listed have no
 * restrictions.
 */
const folderOrders = {
  'apps/gateway/src': [
    ...['http', 'paging', 'event-filters', 'access', 'audit-log', 'tokens', 'users', 'health', 'pages'],
    ...['scopes', 'api-endpoints', 'seeds', 'dead-letters', 'erasures', 'streamers', 'platform', 'live'],
    ...['storage', 'events', 'webhook', 'event-export', 'replays', 'rehearsals', 'system', 'api-description'],
  ],
  'apps/events/src': [
    ...[
      'relay',
      'store',
      'overlaps',
      'upgrade',
      'retention',
      'event-list',
      'event-export',
      'stream-summaries',
    ],
    ...['dead-letters', 'ingest', 'erasure'],
  ],
  'apps/streamer-monitor/src': ['streams', 'polling', 'streamers', 'stream-events', 'rebuild'],
  'apps/platform-connector/src': [
    ...['alarms', 'platform', 'look-up', 'sockets', 'conduits', 'subscriptions', 'event-types', 'grants'],
    ...['connections', 'client-calls', 'pictures', 'user-sockets'],
    ...['reconciliation', 'revocations', 'status', 'alarm-checks'],
  ],
  'apps/platform-simulator/src': [
    ...['http', 'limits', 'world', 'faults', 'grants', 'oauth', 'messages', 'sockets', 'transports'],
    ...['conduits', 'subscriptions', 'notifications'],
    ...['users', 'streams', 'chat', 'pictures', 'scenarios', 'simulator', 'command-line'],
  ],
  // The pages follow the shared folders.
  'apps/console/src': [
    ...['session', 'api', 'live', 'kit', 'layout', 'sign-in', 'events', 'test-event', 'system'],
    ...['rehearsals', 'streams', 'streamers'],
    ...['tokens', 'users', 'audit-log', 'reference', 'platform', 'onboarding', 'account', 'browser-sources'],
  ],
  'tools/boundary-probe/folders': ['lower', 'upper'],
};

// A folder that is not listed could import anything.
for (const [source, folders] of Object.entries(folderOrders))
  for (const { name } of readdirSync(new URL(source, import.meta.url), { withFileTypes: true }).filter(
    (entry) => entry.isDirectory(),
  ))
    if (name !== 'migrations' && !folders.includes(name))
      throw new Error(
        `eslint.config.mjs: add ${source}/${name} to folderOrders, after the folders that it imports`,
      );

const oneWayImports = Object.entries(folderOrders).flatMap(([source, folders]) => [
  // The configuration file is below all folders, because features read it.
  importNothingLike(String.raw`^\./[^/]+/`, `${source}/*.config.ts`),
  ...folders.map((folder, index) => {
    const above = folders.slice(index + 1).map((name) => `${name}/`);
    const appFiles = String.raw`${source.split('/')[1]}\.(app|database|description|module)\.js`;
    const regex = String.raw`^(\.\./)+(${[...above, appFiles].join('|')})`;
    return importNothingLike(regex, `${source}/${folder}/**/*.{ts,tsx,mjs}`);
  }),
]);

function importNothingLike(regex, files) {
  return {
    files: [files],
    ignores: ['**/*.spec.ts'],
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      // Uses this rule instead of ESLint's rule of the same name, whose options further down would replace these.
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [{ regex, message: 'Imports between folders point one way: see folderOrders.' }] },
      ],
    },
  };
}

const testFiles = ['**/*.spec.ts', '**/test/**/*.ts', '**/e2e/**/*.ts', '**/testing/src/**/*.ts'];

export default tseslint.config(
  // The build generates the client's API types.
  { ignores: ['**/dist/**', '**/node_modules/**', 'libs/client/src/api.ts'] },
  js.configs.recommended,
  ...nx.configs['flat/base'],
  {
    files: ['**/*.ts', '**/*.tsx', '**/*.mjs'],
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        { enforceBuildableLibDependency: false, allow: [], depConstraints: boundaries },
      ],
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    // One program for all projects: with a program for each, linting takes twice as long.
    languageOptions: {
      parserOptions: { project: ['./tsconfig.json'], tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { prefer: 'type-imports', fixStyle: 'inline-type-imports' },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', destructuredArrayIgnorePattern: '^_' },
      ],
      // Allow numbers, booleans, and null, which print as expected.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowNullish: true },
      ],
      // `void` marks a promise that is deliberately not awaited.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // Message classes only describe shapes, so allow any object of the shape.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      // A Nest module is a class that has only a decorator or a static method.
      '@typescript-eslint/no-extraneous-class': 'off',
      // An empty string counts as missing, so || is often right.
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    // Browsers have other globals than Node, so the console is a program of its own.
    files: ['apps/console/**/*.{ts,tsx}'],
    extends: [reactHooks.configs.flat.recommended],
    languageOptions: {
      parserOptions: { project: ['./apps/console/tsconfig.json'], tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // Warns that the React Compiler skips components, which is not used.
      'react-hooks/incompatible-library': 'off',
      // A route ends its decision by throwing a redirect.
      '@typescript-eslint/only-throw-error': ['error', { allow: ['Redirect'] }],
    },
  },
  {
    files: ['apps/overlay/**/*.ts'],
    languageOptions: {
      parserOptions: { project: ['./apps/overlay/tsconfig.json'], tsconfigRootDir: import.meta.dirname },
    },
  },
  {
    // System tests start the services as the tests do.
    files: ['**/*.ts', '**/*.tsx'],
    ignores: [...testFiles, 'apps/system-tests/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { paths: [{ name: '@stream-events/testing', message: 'Only tests use it.' }] },
      ],
      'no-console': 'error',
    },
  },
  ...oneWayImports,
  {
    // Tests use non-null assertions (and fail when they do not hold), compare with matchers (which are `any`), throw values
    // that are not errors on purpose, and create stubs with empty methods.
    files: testFiles,
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    // npm run generate writes the types of all events into one file.
    files: ['libs/client/src/event-data.ts'],
    rules: { 'max-lines': 'off' },
  },
  {
    // The examples import the client as its users do.
    files: ['libs/client/examples/*.mjs'],
    rules: { '@nx/enforce-module-boundaries': 'off' },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        URL: 'readonly',
        console: 'readonly',
        fetch: 'readonly',
        setTimeout: 'readonly',
        WebSocket: 'readonly',
      },
    },
  },
);
