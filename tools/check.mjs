// npm run check: checks ignore files, format, types, lint, import boundaries, generated files, API descriptions, and the release plan.
// Installs missing packages and builds changed projects.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from './generate.mjs';
import { prepare, root } from './prepare.mjs';
import { planRelease } from './release-plan.mjs';

const bin = `${root}node_modules/`;

/** Half of the code to lint. */
const largeProjects = ['apps/console', 'apps/events', 'apps/gateway', 'apps/streamer-monitor'];

step('Ignore files');
checkIgnoreFiles();

step('Format, types, lint, import boundaries');
prepare();
// Two chains, which take about as long, for two cores.
await Promise.all([
  checkFormat()
    .then(() => lint(...largeProjects))
    .then(checkBoundaries),
  lint('.', ...[...largeProjects, 'tools/boundary-probe'].map((path) => `--ignore-pattern=${path}`)).then(
    checkTypes,
  ),
]);

step('Generated files');
const stale = await generate({ write: false });
if (stale.length > 0) fail(`Stale: ${stale.join(', ')}. Run: npm run generate`);
await checkStaleness();

step('API descriptions');
// Not imported at the top: this module needs packages that prepare() has just installed.
const { findAsyncApiFaults, findOpenApiFaults } = await import('./api-descriptions.mjs');
await checkDescription('docs/openapi.json', findOpenApiFaults);
await checkDescription('docs/asyncapi.json', findAsyncApiFaults);

step('Release');
await checkRelease();

process.stdout.write('\nAll checks passed.\n');

/** Checks that git and Docker ignore `.env` files, to keep their secrets out of commits and images. */
function checkIgnoreFiles() {
  for (const [file, pattern] of Object.entries({ '.gitignore': '.env*', '.dockerignore': '**/.env*' })) {
    const patterns = readFileSync(root + file, 'utf8').split('\n');
    if (!patterns.includes(pattern))
      fail(`${file} must contain the line ${pattern}: .env files hold secrets.`);
  }
}

async function checkFormat() {
  const cache = ['--cache', '--cache-strategy=content'];
  const format = await runTool('prettier/bin/prettier.cjs', '--check', '--log-level=warn', ...cache, '.');
  if (format.status !== 0) fail(`${format.output}Run: npx prettier --write .`);
}

async function checkTypes() {
  const types = await runTool('typescript-7/bin/tsc', '-p', 'tsconfig.json');
  if (types.status !== 0) fail(types.output);
}

async function lint(...paths) {
  const { status, output } = await runEslint('--max-warnings=0', ...paths);
  if (status !== 0) fail(output);
}

/**
 * Checks that the boundary rules work: they must reject exactly the imports in tools/boundary-probe that are marked `refused`. One rule
 * silently accepts every import if Nx's project graph, which the build writes, is missing.
 */
async function checkBoundaries() {
  const { status, output } = await runEslint('tools/boundary-probe');
  const found = listRefusedImports(output);
  const expected = listForbiddenImports();
  if (status === 0 || found.sort().join() !== expected.sort().join())
    fail(`The boundary rules are not active: they rejected [${found}] instead of [${expected}].\n${output}`);
}

function runEslint(...args) {
  return runTool('eslint/bin/eslint.js', '--no-color', ...args);
}

/** Runs a tool from node_modules and returns its exit code and output. */
function runTool(path, ...args) {
  const options = { cwd: root, env: { ...process.env, NX_DAEMON: 'false' }, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(process.execPath, [bin + path, ...args], options, (error, stdout, stderr) =>
      resolve({ status: error ? (error.code ?? 1) : 0, output: stdout + stderr }),
    );
  });
}

/** Returns the rejected imports in ESLint's report, as `<path of the probe>:<line>`. */
function listRefusedImports(report) {
  const lines = report.matchAll(
    /boundary-probe\/(?<path>\S+)$|^ +(?<line>\d+):.*(enforce-module-boundaries|restricted-imports)$/gm,
  );
  let probe = '';
  return [...lines].flatMap(({ groups: { path, line } }) => {
    if (line) return [`${probe}:${line}`];
    probe = path;
    return [];
  });
}

/** Returns the imports that the probes mark as forbidden, in the same form. */
function listForbiddenImports() {
  const directory = `${root}tools/boundary-probe/`;
  const probes = readdirSync(directory, { recursive: true }).filter((path) => path.endsWith('.mjs'));
  return probes.flatMap((path) =>
    readFileSync(directory + path, 'utf8')
      .split('\n')
      .flatMap((line, index) => (line.includes('// refused: ') ? [`${path}:${index + 1}`] : [])),
  );
}

/** Tests the check of generated files: changes one file in a copy, and expects the check to report only this file. */
async function checkStaleness() {
  const changed = 'docs/asyncapi.json';
  const copy = join(mkdtempSync(join(tmpdir(), 'stale-')), '/');
  const paths = [
    'deploy',
    'docs',
    'libs/client/README.md',
    'libs/client/src/event-data.ts',
    'libs/contracts/src/events/identity-keys.ts',
    'libs/platforms/src/twitch/catalogue/event-examples.json',
    'libs/sentences/src/identity-keys.ts',
  ];
  for (const path of paths) cpSync(root + path, copy + path, { recursive: true });
  writeFileSync(copy + changed, readFileSync(copy + changed, 'utf8').replace('Nats-Msg-Id', 'Msg-Id'));
  const stale = await generate({ write: false, directory: copy }).finally(() =>
    rmSync(copy, { recursive: true }),
  );
  if (stale.join() !== changed)
    fail(
      `The check of generated files does not work: ${changed} was changed, but the check found these stale files: ${stale.join()}`,
    );
}

/** Plans a release without making it, and checks that the plan rejects versions that are not newer. */
async function checkRelease() {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const [major, minor] = version.split('.').map(Number);
  const next = `${major}.${minor + 1}.0`;
  const texts = await planRelease(next, '2000-01-01', { isTrial: true });
  const unchanged = [...texts].filter(([path, text]) => text === readFileSync(root + path, 'utf8'));
  if (unchanged.length > 0) fail(`A release would not change ${unchanged.map(([path]) => path).join(', ')}`);
  const unversioned = [...texts].filter(([, text]) => !text.includes(next));
  if (unversioned.length > 0) fail(`A release would not set ${unversioned.map(([path]) => path).join(', ')}`);
  for (const refused of [version, '0.0.1', 'next']) {
    try {
      await planRelease(refused, '2000-01-01', { isTrial: true });
    } catch {
      continue;
    }
    fail(`The plan of a release accepts the version ${refused}, although the current version is ${version}.`);
  }
}

/** Checks that an API description is valid, and tests that the check rejects it without its title. */
async function checkDescription(path, findFaults) {
  const text = readFileSync(root + path, 'utf8');
  const faults = await findFaults(text);
  if (faults.length > 0) fail(`${path} is not valid:\n${faults.join('\n')}`);
  const description = JSON.parse(text);
  delete description.info.title;
  if ((await findFaults(JSON.stringify(description))).length === 0)
    fail(`The check of ${path} does not work: it accepts a description without a title.`);
}

function step(name) {
  process.stdout.write(`\n── ${name}\n`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
