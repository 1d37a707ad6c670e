import { readdirSync } from 'node:fs';
import js from '@eslint/js';
import nx from '@nx/eslint-plugin';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

/**
 * Which projects a project may import, by tags. Types:
 *
 *   app       a service; never imports another app
 *   bundle    all-in-one and system-tests, which start the apps
 *   lib       imported by apps; its layer decides which libs it may import
 *   laptop    the embedded servers; import only contracts; only bundles and the test kit import them
 *   testing   the test kit, which starts services; only tests import it (see no-restricted-imports)
 *   client    installed by users, and runs in browsers; imports no other project
 *   page      runs in browsers and uses only the public API; imports only the client and page-libs
 *   page-lib  pure functions that several pages need; imports no other project
 *
 * Layers: contracts ← service ← connections (messaging, database) ← features (ingest, platforms). Libs of one layer do not import
 * each other. `npm run check` proves that the rules are active: they must reject the imports in tools/boundary-probe.
 */
const boundaries = [
  allow('type:app', 'type:lib'),
  allow('type:bundle', 'type:lib', 'type:client', 'type:app', 'type:laptop'),
  allow('type:lib', 'type:lib'),
  allow('type:laptop', 'layer:contracts'),
  // The test kit creates the database roles of the services, as every deployment does.
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
 * The folders of an app, lowest first. A folder may import only from folders before it in the list. In these apps, every folder
 * except `migrations` must be listed.
 */
const folderOrders = {
  'apps/gateway/src': [
    ...['http', 'paging', 'event-filters', 'access', 'audit-log', 'tokens', 'users', 'health', 'pages'],
    ...['scopes', 'api-endpoints', 'seeds', 'dead-letters', 'erasures', 'streamers', 'platform', 'live'],
    ...['storage', 'events', 'webhook', 'event-export', 'replays', 'rehearsals', 'system', 'api-description'],
  ],
  'apps/events/src': [
    ...['relay', 'store', 'retention', 'event-list', 'event-export', 'stream-summaries'],
    ...['dead-letters', 'ingest', 'erasure'],
  ],
  'apps/streamer-monitor/src': ['streams', 'polling', 'streamers', 'stream-events', 'rebuild'],
  'apps/platform-connector/src': [
    ...['alarms', 'platform', 'look-up', 'sockets', 'conduits', 'subscriptions', 'event-types', 'grants'],
    ...['connections', 'client-calls', 'pictures', 'user-sockets'],
    ...['reconciliation', 'revocations', 'status', 'alarm-checks'],
  ],
  'apps/platform-simulator/src': [
    ...['http', 'world', 'behavior', 'oauth', 'transports', 'conduits', 'subscriptions', 'notifications'],
    ...['users', 'channels', 'simulator', 'command-line'],
  ],
  // The folders of the pages follow the shared folders.
  'apps/console/src': [
    ...['session', 'api', 'live', 'kit', 'layout', 'sign-in', 'events', 'test-event', 'system'],
    ...['rehearsals', 'streams', 'streamers'],
    ...['tokens', 'users', 'audit-log', 'reference', 'platform', 'onboarding', 'account', 'browser-sources'],
  ],
  'tools/boundary-probe/folders': ['lower', 'upper'],
};

// Require that every folder is listed, because an unlisted folder could import from all folders.
for (const [source, folders] of Object.entries(folderOrders))
  for (const { name } of readdirSync(new URL(source, import.meta.url), { withFileTypes: true }).filter(
    (entry) => entry.isDirectory(),
  ))
    if (name !== 'migrations' && !folders.includes(name))
      throw new Error(
        `eslint.config.mjs: add ${source}/${name} to folderOrders, after the folders that it imports`,
      );

const oneWayImports = Object.entries(folderOrders).flatMap(([source, folders]) => [
  // Files at the root of `src` that end in `.config.ts` may import from no folder, because features import them.
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
      // Use this rule instead of ESLint's `no-restricted-imports`, whose options further down would replace these options.
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [{ regex, message: 'A folder may import only from lower folders: see folderOrders.' }] },
      ],
    },
  };
}

const testFiles = [
  '**/*.spec.ts',
  '**/test/**/*.ts',
  '**/e2e/**/*.ts',
  '**/peers/**/*.ts',
  '**/testing/src/**/*.ts',
];

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
    // Use one TypeScript program for all projects, because linting takes twice as long with one program for each project.
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
      // Message classes only describe shapes, so allow any object with the shape of a class.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      // A Nest module is a class that has only a decorator or a static method.
      '@typescript-eslint/no-extraneous-class': 'off',
      // The code treats an empty string as a missing value, so || is often right.
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    // Browsers have different globals from Node, so the console is a separate TypeScript program.
    files: ['apps/console/**/*.{ts,tsx}'],
    extends: [reactHooks.configs.flat.recommended],
    languageOptions: {
      parserOptions: { project: ['./apps/console/tsconfig.json'], tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // The rule warns about components that the React Compiler skips, but the console does not use this compiler.
      'react-hooks/incompatible-library': 'off',
      // A route redirects by throwing a `Redirect`.
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
    // Only tests and the system tests may import the test kit, because both start the services.
    files: ['**/*.ts', '**/*.tsx'],
    ignores: [...testFiles, 'apps/system-tests/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { paths: [{ name: '@stream-events/testing', message: 'Only tests may import the test kit.' }] },
      ],
      'no-console': 'error',
    },
  },
  ...oneWayImports,
  {
    // Tests use non-null assertions (a test fails when an assertion does not hold), compare with matchers (which have the type
    // `any`), deliberately throw values that are not errors, and create stubs with empty methods.
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
