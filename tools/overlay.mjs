// Builds apps/overlay: bundles it for the oldest browser that OBS embeds, checks that this browser has everything that the bundle uses,
// and compresses it.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import compatibility from '@mdn/browser-compat-data/forLegacyNode';
import { Linter } from 'eslint';
import { build } from 'vite';
import { compressFiles } from './compress-files.mjs';

const project = fileURLToPath(new URL('../apps/overlay/', import.meta.url));
const dist = `${project}dist/`;

/** Older OBS versions embed it. */
const oldestChrome = 103;
/** The newest language version that this browser has in full. */
const ecmaVersion = 2022;

await build({
  root: project,
  base: '/overlay/',
  configFile: false,
  logLevel: 'warn',
  build: {
    target: `chrome${oldestChrome}`,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: [`${project}index.html`, `${project}src/service-worker.ts`],
      output: {
        // The path of a service worker must not change, and it may only serve what is below it.
        entryFileNames: ({ name }) => (name === 'service-worker' ? '[name].js' : 'assets/[name]-[hash].js'),
      },
    },
  },
});
checkScripts();
compressFiles(dist);

/**
 * Fails when a script has newer syntax, which the parser refuses, or uses a newer global, a newer static member, or a member with a name
 * that neither an older object of the browser nor an object of the script has.
 */
function checkScripts() {
  const versions = readVersions();
  const find = (code) => findNewerParts(code, versions);
  const paths = readdirSync(dist, { recursive: true }).filter((path) => path.endsWith('.js'));
  const faults = paths.flatMap((path) => find(readFileSync(dist + path, 'utf8')));
  // Proves that the check works.
  for (const newer of [
    '/a/v',
    'Promise.withResolvers()',
    'new CloseWatcher()',
    '[].toSorted()',
    'body.checkVisibility()',
  ])
    if (find(newer).length === 0) faults.push(`the check accepts ${newer}`);
  if (faults.length === 0) return;
  process.stderr.write(`Chromium ${oldestChrome} cannot run the overlay:\n${faults.join('\n')}\n`);
  process.exit(1);
}

/**
 * The first version of Chromium with each global, with each of their members as `<global>.<member>`, and with any member of a name as
 * `.<member>`.
 */
function readVersions() {
  const versions = new Map();
  const interfaces = Object.entries({ ...compatibility.api, ...compatibility.javascript.builtins });
  for (const [name, { __compat: own, ...members }] of interfaces) {
    if (own) versions.set(name, firstVersion(own));
    for (const [key, { __compat: entry }] of Object.entries(members)) {
      if (!entry) continue;
      const member = `.${key.replace(/_static$/, '')}`;
      const version = firstVersion(entry);
      versions.set(name + member, version);
      // The tests would notice a member that no Chromium has. Scripts use such names for their own objects.
      if (version < Infinity) versions.set(member, Math.min(version, versions.get(member) ?? Infinity));
    }
  }
  return versions;
}

function firstVersion({ support }) {
  const [{ version_added: added, flags }] = [support.chrome].flat();
  return flags || !/^\d/.test(added) ? Infinity : Number.parseInt(added, 10);
}

function findNewerParts(code, versions) {
  const create = ({ sourceCode, report }) => {
    const members = [];
    const own = new Set();
    const check = (node, name) => {
      if (versions.get(name) > oldestChrome)
        report({ node, message: `${name} needs Chromium ${versions.get(name)}` });
    };
    return {
      'MemberExpression[computed=false]': ({ property }) => members.push(property),
      ':matches(Property, MethodDefinition, PropertyDefinition) > .key': ({ name }) => own.add(name),
      'AssignmentExpression > .left[object.type=ThisExpression]': ({ property }) => own.add(property.name),
      'Program:exit': () => {
        for (const member of members) if (!own.has(member.name)) check(member, `.${member.name}`);
        const { through, variables } = sourceCode.scopeManager.globalScope;
        // Those that the language defines are variables; those of the browser are not known to the parser.
        for (const { identifier } of [...through, ...variables.flatMap(({ references }) => references)])
          for (const name of namesAt(identifier)) check(identifier, name);
      },
    };
  };
  const faults = new Linter().verify(code, {
    plugins: { overlay: { rules: { versions: { create } } } },
    rules: { 'overlay/versions': 'error' },
    languageOptions: { ecmaVersion, sourceType: 'module' },
  });
  return faults.map(({ message }) => message);
}

/** The global at a place in the code, and its member that the code uses there. */
function namesAt({ name, parent }) {
  const member = parent.type === 'MemberExpression' && !parent.computed ? [parent.property.name] : [];
  return [name, `Window.${name}`, ...member.map((each) => `${name}.${each}`)];
}
