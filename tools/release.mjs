// npm run release -- <version> [--dry-run]: makes a release. Sets the version in all files, closes the changelog's "Unreleased" section,
// commits, tags, and prints how to publish. Never pushes or publishes. With --dry-run, prints the changes and commands instead.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { build, markInstalled, prepare, root, run } from './prepare.mjs';

const args = process.argv.slice(2);
const isDryRun = args.includes('--dry-run');
const [version = ''] = args.filter((arg) => !arg.startsWith('--'));
const { version: current } = JSON.parse(read('package.json'));

prepare();
try {
  requireNewer();
  if (!isDryRun) requireCleanTree();
  for (const [path, text] of Object.entries(await planTexts())) {
    if (text === read(path)) throw new Error(`${path} does not have the version ${current}`);
    say(`${isDryRun ? 'Would change' : 'Changing'} ${path}`);
    if (!isDryRun) writeFileSync(root + path, text);
  }
  if (!isDryRun) markInstalled();
  // The generated files contain the new version.
  if (!isDryRun && !build()) throw new Error('the build failed');
  make(process.execPath, 'tools/generate.mjs');
  make('git', 'commit', '--all', '--message', `chore: release ${version}`);
  make('git', 'tag', '--annotate', `v${version}`, '--message', `Version ${version}`);
  say(`To publish:
    git push --follow-tags
    npx nx run-many -t build && npm publish ./libs/client/dist
    helm package deploy/helm --destination dist, then helm push
    docker build --file deploy/Dockerfile --build-arg REVISION=$(git rev-parse HEAD) --tag stream-event-service:${version} ., then docker push`);
} catch (error) {
  process.stderr.write(`Cannot release: ${error.message}\n`);
  process.exit(1);
}

/** Returns the new text of each file that has the version, by path. */
async function planTexts() {
  const texts = {
    'package-lock.json': setLockVersions(read('package-lock.json')),
    'CHANGELOG.md': endUnreleased(read('CHANGELOG.md')),
    'libs/testing/released.json': await describeMigrations(),
    'deploy/helm/Chart.yaml': read('deploy/helm/Chart.yaml').replaceAll(current, version),
    'deploy/Dockerfile': read('deploy/Dockerfile').replace(`VERSION=${current}`, `VERSION=${version}`),
    'docs/kubernetes.md': read('docs/kubernetes.md').replaceAll(`:${current}`, `:${version}`),
    'libs/client/README.md': read('libs/client/README.md').replace(`${current}.tgz`, `${version}.tgz`),
  };
  const projects = ['apps', 'libs'].flatMap((group) =>
    readdirSync(root + group).map((name) => `${group}/${name}/`),
  );
  for (const path of ['', ...projects].map((folder) => `${folder}package.json`))
    texts[path] = read(path).replace(`"version": "${current}"`, `"version": "${version}"`);
  return texts;
}

function requireNewer() {
  const [next, now] = [version, current].map((text) =>
    /^(\d+)\.(\d+)\.(\d+)$/.exec(text)?.slice(1).map(Number),
  );
  if (!next) throw new Error(`"${version}" is not a version. Use three numbers, for example 0.2.0`);
  const index = next.findIndex((number, position) => number !== now[position]);
  if (index < 0 || next[index] < now[index])
    throw new Error(`${version} is not newer than the current version ${current}`);
}

function setLockVersions(text) {
  const lock = JSON.parse(text);
  lock.version = version;
  // Skip the entries below node_modules, which are registry packages and links to the workspaces.
  for (const [path, entry] of Object.entries(lock.packages))
    if (!path.startsWith('node_modules/')) entry.version = version;
  return `${JSON.stringify(lock, undefined, 2)}\n`;
}

function endUnreleased(text) {
  const heading = '## Unreleased\n';
  const [before, after = ''] = text.split(heading);
  // A dry run also succeeds right after a release.
  if (after.split(/^## /m)[0].trim() === '' && !isDryRun)
    throw new Error('CHANGELOG.md has nothing under "Unreleased"');
  return `${before}${heading}\n## ${version} - ${new Date().toISOString().slice(0, 10)}\n${after}`;
}

/**
 * Returns the class names of each schema's migrations, in the order in which they run. The next version must not break the schemas that
 * these migrations create.
 */
async function describeMigrations() {
  const { backedUpSchemas } = await import('../apps/all-in-one/dist/databases.js');
  const migrations = Object.fromEntries(
    Object.values(backedUpSchemas).map((schema) => [schema.name, schema.migrations.map(({ name }) => name)]),
  );
  const { format } = await import('prettier');
  return format(JSON.stringify({ version, migrations }), { parser: 'json', printWidth: 110 });
}

function requireCleanTree() {
  const { stdout } = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (stdout !== '') throw new Error(`commit or stash your changes first:\n${stdout}`);
}

function make(command, ...options) {
  const line = [command, ...options].map((part) => (part.includes(' ') ? `"${part}"` : part)).join(' ');
  say(`${isDryRun ? 'Would run' : 'Running'}: ${line}`);
  if (!isDryRun) run(command, options, 'The release is not complete: this command failed.');
}

function read(path) {
  return readFileSync(root + path, 'utf8');
}

function say(line) {
  process.stdout.write(`  ${line}\n`);
}
