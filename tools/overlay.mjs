// Builds apps/overlay: bundles it for the oldest supported browser in OBS, checks that this browser can run the bundle, and compresses the
// bundle.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import compatibility from '@mdn/browser-compat-data/forLegacyNode';
import { Linter } from 'eslint';
import { build } from 'vite';
import { compressFiles } from './compress-files.mjs';

const project = fileURLToPath(new URL('../apps/overlay/', import.meta.url));
const dist = `${project}dist/`;

/** The oldest supported Chromium, which old versions of OBS embed. */
const oldestChrome = 103;
/** The newest JavaScript version that this browser supports completely. */
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
        // No hash, because a service worker must keep its path. No folder, because it can serve only files below its own path.
        entryFileNames: ({ name }) => (name === 'service-worker' ? '[name].js' : 'assets/[name]-[hash].js'),
      },
    },
  },
});
checkScripts();
compressFiles(dist);

/**
 * Fails if a script needs a newer browser. The parser rejects newer syntax. The lint rule finds newer globals, static members, and members
 * of other objects. It misses a newer member if an object of this browser or of the script has a member with the same name.
 */
function checkScripts() {
  const versions = readVersions();
  const paths = readdirSync(dist, { recursive: true }).filter((path) => path.endsWith('.js'));
  const faults = paths.flatMap((path) => findNewerParts(readFileSync(dist + path, 'utf8'), versions));
  if (faults.length === 0) return;
  process.stderr.write(`Chromium ${oldestChrome} cannot run the overlay:\n${faults.join('\n')}\n`);
  process.exit(1);
}

/** Returns the first version of Chromium that has each name: `<global>`, `<global>.<member>`, or `.<member>` for a member of any global. */
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
      // Omit members that no version of Chromium has. Scripts use such names for their own objects. The tests would fail if a script used
      // the missing member.
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
        // `through` contains the references to globals of the browser. The parser knows only the language's own globals, as variables.
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

/** Returns the names to look up for a use of a global: the global itself, and the member that the code reads from it. */
function namesAt({ name, parent }) {
  const member = parent.type === 'MemberExpression' && !parent.computed ? [parent.property.name] : [];
  return [name, `Window.${name}`, ...member.map((each) => `${name}.${each}`)];
}
