// npm run check: format, types, lint, boundaries awake, generated files fresh, API descriptions valid. Installs and builds what is missing.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from './generate.mjs';
import { prepare, root, run } from './prepare.mjs';

const bin = `${root}node_modules/`;

step('Format');
prepare();
run(
  process.execPath,
  [`${bin}prettier/bin/prettier.cjs`, '--check', '--log-level=warn', '.'],
  'Run: npx prettier --write .',
);

step('Types');
run(process.execPath, [`${bin}typescript/bin/tsc`, '-p', 'tsconfig.json']);

step('Lint');
// Through Nx only: without its project graph the boundary rule is silently skipped.
run(process.execPath, [
  `${bin}nx/dist/bin/nx.js`,
  'run-many',
  '-t',
  'lint',
  '--exclude=boundary-probe',
  '--output-style=static',
]);

step('Boundaries awake');
checkBoundaries();

step('Generated files fresh');
const stale = await generate({ write: false });
if (stale.length > 0) fail(`Stale: ${stale.join(', ')}. Run: npm run generate`);
await checkStaleness();

step('API descriptions valid');
// Not imported above: its packages are installed by now.
const { findAsyncApiFaults, findOpenApiFaults } = await import('./api-descriptions.mjs');
await checkDescription('docs/openapi.json', findOpenApiFaults);
await checkDescription('docs/asyncapi.json', findAsyncApiFaults);

process.stdout.write('\nAll checks passed.\n');

/** The rule must refuse each of the probe's forbidden imports. */
function checkBoundaries() {
  const nx = [
    `${bin}nx/dist/bin/nx.js`,
    'run',
    'boundary-probe:lint',
    '--skip-nx-cache',
    '--output-style=static',
  ];
  const { status, stdout } = spawnSync(process.execPath, nx, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false' },
  });
  const refusals = stdout.split('@nx/enforce-module-boundaries').length - 1;
  if (status === 0 || refusals !== 2)
    fail(`The boundary rule sleeps: it refused ${refusals} of the 2 forbidden imports.\n${stdout}`);
}

/** A generated file that is not what it should be must be found: of a copy one is changed. */
async function checkStaleness() {
  const changed = 'docs/asyncapi.json';
  const copy = join(mkdtempSync(join(tmpdir(), 'stale-')), '/');
  const paths = ['deploy', 'docs', 'libs/client/README.md'];
  for (const path of paths) cpSync(root + path, copy + path, { recursive: true });
  writeFileSync(copy + changed, readFileSync(copy + changed, 'utf8').replace('Nats-Msg-Id', 'Msg-Id'));
  const stale = await generate({ write: false, directory: copy }).finally(() =>
    rmSync(copy, { recursive: true }),
  );
  if (stale.join() !== changed)
    fail(`The check of generated files sleeps: ${changed} was changed, it found: ${stale.join()}`);
}

/** A description must be valid, and one that has lost its title must be refused. */
async function checkDescription(path, findFaults) {
  const text = readFileSync(root + path, 'utf8');
  const faults = await findFaults(text);
  if (faults.length > 0) fail(`${path} is not valid:\n${faults.join('\n')}`);
  const description = JSON.parse(text);
  delete description.info.title;
  if ((await findFaults(JSON.stringify(description))).length === 0)
    fail(`The check of ${path} sleeps: it takes a description without a title.`);
}

function step(name) {
  process.stdout.write(`\n── ${name}\n`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
