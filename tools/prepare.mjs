// The first steps of the npm scripts: check the Node version, install the packages, and build the projects. Imports only Node's own
// modules, because a fresh clone has no packages yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

const installedMark = `${root}node_modules/.installed-lock`;
const builtMark = `${root}node_modules/.built-sources`;

/** Everything that a build reads, apart from the packages in the lock file. */
const buildInputs = [
  'apps',
  'libs',
  'tools',
  'docs/openapi.json',
  'LICENSE',
  'package-lock.json',
  'nx.json',
  'tsconfig.base.json',
  '.swcrc',
];
// A build writes this file beside the sources.
const generatedSource = 'libs/client/src/api.ts';

/**
 * Checks the Node version, installs the packages if they differ from the lock file, then builds the changed projects. Exits the process if
 * a step fails.
 *
 * @param {string[]} [options] additional options for `nx run-many`
 */
export function prepare(options) {
  install();
  if (!build(options)) process.exit(1);
}

/** Installs the packages if they are missing or differ from the lock file. Exits the process if Node is too old or the step fails. */
export function install() {
  requireNode();
  if (existsSync(installedMark) && readFileSync(installedMark, 'utf8') === hashLock()) return;
  process.stdout.write('  Packages: installing (takes about a minute the first time)\n');
  const [npm, ...npmArgs] = npmCommand();
  run(
    npm,
    // Include the packages that the build needs, even with NODE_ENV=production or an option in the user's npm configuration.
    [...npmArgs, 'ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'],
    'Cannot install the packages. Check that this machine can reach the npm registry.',
  );
  markInstalled();
}

/**
 * Records that the installed packages match the lock file. Call this function after a change to the lock file that affects no installed
 * package, such as a new version number for a release.
 */
export function markInstalled() {
  writeFileSync(installedMark, hashLock());
}

function hashLock() {
  return createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .digest('hex');
}

/**
 * Returns the command that starts npm. On Windows, npm is a batch script, which Node refuses to start. Node therefore runs npm's JavaScript
 * file: that of the npm that runs this script, or of the npm installed with Node.
 */
function npmCommand() {
  const current = process.env.npm_execpath ?? '';
  if (basename(current) === 'npm-cli.js') return [process.execPath, current];
  if (process.platform !== 'win32') return ['npm'];
  return [process.execPath, join(dirname(process.execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js')];
}

/** Runs a program in the root folder. If it fails, prints the advice and exits with its exit code. */
export function run(command, args, advice) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', env: environment() });
  if (status === 0) return;
  if (error) process.stderr.write(`${command}: ${error.message}\n`);
  if (advice) process.stderr.write(`${advice}\n`);
  process.exit(status || 1);
}

/**
 * Builds the changed projects. If the build fails, prints its output and returns false. Nx takes seconds to find out that nothing has changed,
 * so it runs only if the name, size, or time of a file differs from those at the last build of all projects.
 */
export function build(options = []) {
  const sources = describeSources();
  // Somebody may have deleted the outputs.
  const isBuilt = existsSync(`${root}apps/all-in-one/dist`);
  if (existsSync(builtMark) && readFileSync(builtMark, 'utf8') === sources && isBuilt) return true;
  process.stdout.write('  Build: checking for changes\n');
  rmSync(builtMark, { force: true });
  const args = [
    'node_modules/nx/dist/bin/nx.js',
    'run-many',
    '-t',
    'build',
    '--output-style=static',
    ...options,
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    env: environment(),
  });
  if (status !== 0) {
    process.stderr.write(`${stdout}${stderr}\nThe build failed.\n`);
    return false;
  }
  // With options, Nx may have built only some of the projects.
  if (options.length === 0) writeFileSync(builtMark, sources);
  return true;
}

function describeSources() {
  const hash = createHash('sha256');
  const add = (path) => {
    if (path === generatedSource || ['dist', 'node_modules'].includes(basename(path))) return;
    const stats = statSync(`${root}${path}`, { throwIfNoEntry: false });
    if (stats?.isDirectory()) for (const name of readdirSync(`${root}${path}`).sort()) add(`${path}/${name}`);
    else hash.update(`${path} ${stats?.size} ${stats?.mtimeMs}\n`);
  };
  for (const path of buildInputs) add(path);
  return hash.digest('hex');
}

function environment() {
  return { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false' };
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  process.stderr.write(
    `Node.js ${process.versions.node} is too old. Install 20.19 or newer from https://nodejs.org.\n`,
  );
  process.exit(1);
}
