// What `npm start`, `npm test` and `npm run check` need first on a fresh machine: Node, the packages, the build.
// Only Node's own modules here: nothing else is installed yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

const installedMark = `${root}node_modules/.installed-lock`;

/** Installs the packages when they are missing or not those of the lock file, then builds what has changed. */
export function prepare() {
  requireNode();
  install();
  build();
}

/** Installs the packages when they are missing or not those of the lock file. */
export function install() {
  const lock = createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .digest('hex');
  if (existsSync(installedMark) && readFileSync(installedMark, 'utf8') === lock) return;
  process.stdout.write('  Packages: installing (about a minute at the first time)\n');
  run(
    'npm',
    ['ci', '--no-audit', '--no-fund', '--loglevel=error'],
    'The packages could not be installed. Is the npm registry reachable?',
  );
  writeFileSync(installedMark, lock);
}

/** Runs a program at the root; ends this process with its exit code when it fails. */
export function run(command, args, advice) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', env: environment() });
  if (status === 0) return;
  if (error) process.stderr.write(`${command}: ${error.message}\n`);
  if (advice) process.stderr.write(`${advice}\n`);
  process.exit(status || 1);
}

function build() {
  process.stdout.write('  Build: checking what has changed\n');
  const args = ['node_modules/nx/dist/bin/nx.js', 'run-many', '-t', 'build', '--output-style=static'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    env: environment(),
  });
  if (status === 0) return;
  process.stderr.write(`${stdout}${stderr}\nThe build failed.\n`);
  process.exit(1);
}

function environment() {
  return { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false' };
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  process.stderr.write(
    `Node.js ${process.versions.node} is too old: this needs 20.19 or newer (https://nodejs.org).\n`,
  );
  process.exit(1);
}
