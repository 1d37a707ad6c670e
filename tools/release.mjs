// npm run release -- <version> [--dry-run]: makes a release. Sets the version in all files, closes the changelog's "Unreleased" section,
// packs libs/client and the Helm chart, commits, and tags. If a container engine responds, also builds the image. Never pushes or
// publishes. With --dry-run, prints the changes and commands instead.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { planRelease } from './release-plan.mjs';
import { findHelm } from './helm.mjs';
import { build, markInstalled, npmCommand, prepare, root, run } from './prepare.mjs';

const args = process.argv.slice(2);
const isDryRun = args.includes('--dry-run');
const [version = ''] = args.filter((arg) => !arg.startsWith('--'));
const image = `stream-event-service:${version}`;

prepare();
try {
  const day = new Date().toISOString().slice(0, 10);
  const texts = await planRelease(version, day, { isTrial: isDryRun });
  if (!isDryRun) requireCleanTree();
  for (const [path, text] of texts) {
    say(`${isDryRun ? 'Would change' : 'Changing'} ${path}`);
    if (!isDryRun) writeFileSync(root + path, text);
  }
  if (!isDryRun) markInstalled();
  // The packages must contain the new version.
  if (!isDryRun && !build()) throw new Error('the build failed');
  for (const [purpose, command, ...options] of listPacking()) make(purpose, command, options);
  make('commit', 'git', ['commit', '--all', '--message', `chore: release ${version}`]);
  make('tag', 'git', ['tag', '--annotate', `v${version}`, '--message', `Version ${version}`]);
  buildImage();
  if (!isDryRun)
    say(
      `Released ${version}. To publish the release, run git push --follow-tags, run npm publish and helm push with the archives in dist/, and push the image`,
    );
} catch (error) {
  process.stderr.write(`Cannot release: ${error.message}\n`);
  process.exit(1);
}

function make(purpose, command, options, advice = `The release is not complete: ${purpose} failed.`) {
  const line = [command, ...options].map((part) => (part.includes(' ') ? `"${part}"` : part)).join(' ');
  say(`${isDryRun ? 'Would run' : 'Running'}: ${line} (${purpose})`);
  if (!isDryRun) run(command, options, advice);
}

/** Returns the commands that create the release's files, in dist/ and in the repository. */
function listPacking() {
  if (!isDryRun) mkdirSync(`${root}dist`, { recursive: true });
  const prettier = 'node_modules/prettier/bin/prettier.cjs';
  return [
    ['generated files', process.execPath, 'tools/generate.mjs'],
    ['format', process.execPath, prettier, '--write', 'libs/testing/released.json'],
    ['npm package', ...npmCommand(), 'pack', './libs/client/dist', '--pack-destination', 'dist'],
    ...packChart(),
  ];
}

function packChart() {
  const command = 'helm package deploy/helm --destination dist';
  const helm = isDryRun
    ? 'helm'
    : findHelm((reason) => say(`${reason} Pack the chart later with ${command}`));
  return helm ? [['Helm chart', helm, ...command.split(' ').slice(1)]] : [];
}

/** Builds the image. Call this function after the commit, whose id becomes a label of the image. */
function buildImage() {
  const engine = ['docker', 'podman'].find(
    (name) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0,
  );
  const revision = isDryRun ? 'HEAD' : git('rev-parse', 'HEAD').trim();
  const labels = [`VERSION=${version}`, `REVISION=${revision}`].flatMap((label) => ['--build-arg', label]);
  const options = ['build', '--file', 'deploy/Dockerfile', ...labels, '--tag', image, '.'];
  const later = `Build the image later with docker ${options.join(' ')}`;
  if (engine) make('image', engine, options, `Everything except the image is released. ${later}`);
  else say(`No container engine responds. ${later}`);
}

function requireCleanTree() {
  const changes = git('status', '--porcelain');
  if (changes !== '') throw new Error(`commit or stash your changes first:\n${changes}`);
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args[0]} failed:\n${stderr}`);
  return stdout;
}

function say(line) {
  process.stdout.write(`  ${line}\n`);
}
