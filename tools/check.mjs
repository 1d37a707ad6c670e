// npm run check: checks format, types, lint, import boundaries, generated files, Markdown, and API descriptions. Installs missing packages and
// builds changed projects.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { generate } from './generate.mjs';
import { findBrokenLinks, findPaddedRows } from './links.mjs';
import { prepare, root } from './prepare.mjs';

const prettier = 'prettier/bin/prettier.cjs';
const eslint = 'eslint/bin/eslint.js';

/** Half of the code to lint. */
const largeProjects = ['apps/console', 'apps/events', 'apps/gateway', 'apps/streamer-monitor'];

step('Format, types, lint, import boundaries');
prepare();
// Two chains, which take about as long, for two cores.
await Promise.all([checkFormatAndLargeProjects(), checkOthersAndTypes()]);

step('Generated files');
const stale = await generate({ write: false });
if (stale.length > 0) fail(`Stale: ${stale.join(', ')}. Run: npm run generate`);

step('Links and tables of Markdown pages');
const broken = findBrokenLinks();
if (broken.length > 0) fail(`Links that lead nowhere:\n${broken.join('\n')}`);
const padded = findPaddedRows();
if (padded.length > 0) fail(`Table rows with padding. Use one space:\n${padded.join('\n')}`);

step('API descriptions');
await checkOpenApi();
await checkAsyncApi();

process.stdout.write('\nAll checks passed.\n');

async function checkFormatAndLargeProjects() {
  const cache = ['--cache', '--cache-strategy=content'];
  await requireSuccess(prettier, '--check', '--log-level=warn', ...cache, '.');
  await requireSuccess(eslint, '--max-warnings=0', ...largeProjects);
  await checkBoundaries();
}

async function checkOthersAndTypes() {
  const ignored = [...largeProjects, 'tools/boundary-probe'].map((path) => `--ignore-pattern=${path}`);
  await requireSuccess(eslint, '--max-warnings=0', '.', ...ignored);
  await requireSuccess('typescript-7/bin/tsc', '-p', 'tsconfig.json');
}

async function requireSuccess(tool, ...args) {
  const { error, stdout, stderr } = await runTool(tool, ...args);
  if (error) fail(`${tool} failed:\n${stdout}${stderr}`);
}

/**
 * Checks that the boundary rules work: they must reject exactly the imports in tools/boundary-probe that are marked `refused`. One rule
 * silently accepts every import if Nx's project graph, which the build writes, is missing.
 */
async function checkBoundaries() {
  const { stdout } = await runTool(eslint, '--format=json', 'tools/boundary-probe');
  const rejected = JSON.parse(stdout).flatMap(({ filePath, messages }) =>
    messages
      .filter(({ ruleId }) => /enforce-module-boundaries|restricted-imports/.test(ruleId))
      .map(({ line }) => `${filePath}:${line}`),
  );
  const forbidden = listForbiddenImports();
  if (rejected.sort().join() !== forbidden.sort().join())
    fail(`The boundary rules are not active: they rejected [${rejected}] instead of [${forbidden}].`);
}

/** Runs a tool from node_modules. */
function runTool(path, ...args) {
  const options = { cwd: root, env: { ...process.env, NX_DAEMON: 'false' }, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(process.execPath, [`${root}node_modules/${path}`, ...args], options, (error, stdout, stderr) =>
      resolve({ error, stdout, stderr }),
    );
  });
}

/** Returns the imports that the probes mark as forbidden, as `<path>:<line>`. */
function listForbiddenImports() {
  const directory = `${root}tools/boundary-probe/`;
  const probes = readdirSync(directory, { recursive: true }).filter((path) => path.endsWith('.mjs'));
  return probes.flatMap((path) => {
    const lines = readFileSync(directory + path, 'utf8').split('\n');
    return lines.flatMap((line, index) =>
      line.includes('// refused: ') ? [`${directory}${path}:${index + 1}`] : [],
    );
  });
}

async function checkOpenApi() {
  const { Validator } = await import('@seriousme/openapi-schema-validator');
  const { valid, errors } = await new Validator().validate(`${root}docs/openapi.json`);
  if (!valid) fail(`docs/openapi.json is not valid:\n${JSON.stringify(errors, null, 2)}`);
}

async function checkAsyncApi() {
  const { default: parser } = await import('@asyncapi/parser');
  const diagnostics = await new parser.Parser().validate(readFileSync(`${root}docs/asyncapi.json`, 'utf8'));
  // Errors have the severity 0, and warnings 1. The others are hints, such as "a newer AsyncAPI version exists".
  const faults = diagnostics.filter(({ severity }) => severity <= 1);
  if (faults.length > 0) fail(`docs/asyncapi.json is not valid:\n${JSON.stringify(faults, null, 2)}`);
}

function step(name) {
  process.stdout.write(`\n── ${name}\n`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
