import js from '@eslint/js';
import nx from '@nx/eslint-plugin';
import tseslint from 'typescript-eslint';

/**
 * Who may import whom. An app never imports an app (all-in-one excepted), a lib never an app, only tests import `testing`,
 * and the client, which others install and browsers run, imports nothing of ours. `npm run check` proves that the rule is
 * awake: it must refuse tools/boundary-probe.
 */
const boundaries = [
  { sourceTag: 'type:app', onlyDependOnLibsWithTags: ['type:lib', 'type:client', 'type:testing'] },
  {
    sourceTag: 'type:bundle',
    onlyDependOnLibsWithTags: ['type:lib', 'type:client', 'type:app', 'type:testing'],
  },
  { sourceTag: 'type:lib', onlyDependOnLibsWithTags: ['type:lib', 'type:testing'] },
  { sourceTag: 'type:testing', onlyDependOnLibsWithTags: ['type:lib'] },
  { sourceTag: 'type:client', onlyDependOnLibsWithTags: ['type:testing'] },
];

/** The gateway's folders, lowest first. A folder imports only from folders that come before it. */
const gatewayFolders = [
  ...['http', 'paging', 'users', 'health'],
  ...[
    'scopes',
    'api-endpoints',
    'dead-letters',
    'streamers',
    'events',
    'platform',
    'webhook',
    'live',
    'replays',
  ],
  'api-description',
];

const gatewayLayers = gatewayFolders.map((folder, index) => {
  const above = gatewayFolders.slice(index + 1).map((name) => `${name}/`);
  const regex = String.raw`^(\.\./)+(${[...above, String.raw`gateway\.(app|database|description|module)\.js`].join('|')})`;
  return {
    files: [`apps/gateway/src/${folder}/**/*.ts`],
    ignores: ['**/*.spec.ts'],
    rules: {
      // Not the core rule of the same name, whose options elsewhere in this file these would replace.
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [{ regex, message: 'Imports between folders point one way: see gatewayFolders.' }] },
      ],
    },
  };
});

const testFiles = ['**/*.spec.ts', '**/test/**/*.ts', '**/e2e/**/*.ts', '**/testing/src/**/*.ts'];

export default tseslint.config(
  // The build generates the client's API types.
  { ignores: ['**/dist/**', '**/node_modules/**', 'libs/client/src/api.ts'] },
  js.configs.recommended,
  ...nx.configs['flat/base'],
  {
    files: ['**/*.ts', '**/*.mjs'],
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        { enforceBuildableLibDependency: false, allow: [], depConstraints: boundaries },
      ],
    },
  },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
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
      // Numbers print as anybody expects; `void` arrows are how a promise is let go on purpose.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowNullish: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // Message classes describe shapes: what is of that shape is one of them, whoever made it.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      // Nest modules are classes with nothing but a decorator or a static method.
      '@typescript-eslint/no-extraneous-class': 'off',
      // An empty text counts as none.
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    // The trials start the services as the tests do.
    files: ['**/*.ts'],
    ignores: [...testFiles, 'apps/system-tests/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { paths: [{ name: '@stream-events/testing', message: 'Only tests use it.' }] },
      ],
      'no-console': 'error',
    },
  },
  ...gatewayLayers,
  {
    // Tests reach into what they know is there (and fail when it is not), compare with matchers, which are `any`, throw
    // what is no error on purpose, and make stand-ins with empty methods.
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
    // They import the client as those do who install it.
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
