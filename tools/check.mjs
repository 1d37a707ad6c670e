// npm run check: format, types, lint, boundaries awake, generated files fresh. Installs and builds what is missing.
import { spawnSync } from 'node:child_process';
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

function step(name) {
  process.stdout.write(`\n── ${name}\n`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
