// Computes the new text of each file that a release changes. `npm run release` writes the files; `npm run check` only tests the plan.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { root } from './prepare.mjs';

const versionPattern = /^(\d+)\.(\d+)\.(\d+)$/;
const changelogPath = 'CHANGELOG.md';
const chartPath = 'deploy/helm/Chart.yaml';
const releasedPath = 'libs/testing/released.json';

/**
 * Returns the new text of each file that a release changes, by path.
 *
 * @param {string} version the new version, such as 0.2.0
 * @param {string} date the day of the release, such as 2026-11-24
 * @param {{ isTrial?: boolean }} options with `isTrial`, the changelog need not have unreleased changes, so that the check passes right
 * after a release
 * @throws Error if the version cannot be released; the message has the reason
 */
export async function planRelease(version, date, { isTrial = false } = {}) {
  const { version: current } = JSON.parse(read('package.json'));
  requireNewer(version, current);
  const texts = new Map();
  for (const path of packagePaths()) texts.set(path, setVersion(path, read(path), current, version));
  texts.set('package-lock.json', setLockVersions(read('package-lock.json'), version));
  texts.set(changelogPath, endUnreleased(read(changelogPath), { version, date, isTrial }));
  texts.set(
    releasedPath,
    `${JSON.stringify({ version, migrations: await listMigrations() }, undefined, 2)}\n`,
  );
  if (existsSync(root + chartPath)) {
    const chart = read(chartPath).replace(/^(version|appVersion): .*$/gm, `$1: ${version}`);
    texts.set(chartPath, chart);
  }
  texts.set(
    'deploy/Dockerfile',
    read('deploy/Dockerfile').replace(/^ARG VERSION=.*$/m, `ARG VERSION=${version}`),
  );
  texts.set('docs/kubernetes.md', read('docs/kubernetes.md').replaceAll(`:${current}`, `:${version}`));
  const readme = 'libs/client/README.md';
  texts.set(readme, read(readme).replaceAll(`client-${current}.tgz`, `client-${version}.tgz`));
  return texts;
}

function requireNewer(version, current) {
  const [next, now] = [version, current].map((text) => versionPattern.exec(text)?.slice(1).map(Number));
  if (!next) throw new Error(`"${version}" is not a version. Use three numbers, for example 0.2.0`);
  const index = next.findIndex((number, position) => number !== now[position]);
  if (index < 0 || next[index] < now[index])
    throw new Error(`${version} is not newer than the current version ${current}`);
}

function packagePaths() {
  const projects = ['apps', 'libs'].flatMap((group) =>
    readdirSync(root + group).map((name) => `${group}/${name}`),
  );
  return [
    'package.json',
    ...projects.map((project) => `${project}/package.json`).filter((path) => existsSync(root + path)),
  ];
}

/** Changes only the line with the version, so that the rest of the file keeps its format. */
function setVersion(path, text, current, version) {
  const changed = text.replace(`"version": "${current}"`, `"version": "${version}"`);
  if (changed === text)
    throw new Error(
      `${path} does not have the version ${current}. Set its version to ${current}, then try again.`,
    );
  return changed;
}

function setLockVersions(text, version) {
  const lock = JSON.parse(text);
  lock.version = version;
  // Skip the entries below node_modules, which are registry packages and links to the workspaces.
  for (const [path, entry] of Object.entries(lock.packages))
    if (!path.startsWith('node_modules/')) entry.version = version;
  return `${JSON.stringify(lock, undefined, 2)}\n`;
}

function endUnreleased(text, { version, date, isTrial }) {
  const heading = '## Unreleased\n';
  const [before, after] = text.split(heading);
  const [section = ''] = (after ?? '').split(/^## /m);
  if (section.trim() === '' && !isTrial) throw new Error(`${changelogPath} has nothing under "Unreleased"`);
  return `${before}${heading}\n## ${version} - ${date}\n${after}`;
}

/**
 * Returns the class names of each schema's migrations, in the order in which they run. The next version must not break the schemas that
 * these migrations create.
 */
async function listMigrations() {
  // Only a build can compute the names of the migrations that create the schemas.
  const { backedUpSchemas } = await import('../apps/all-in-one/dist/databases.js');
  return Object.fromEntries(
    Object.values(backedUpSchemas).map((schema) => [schema.name, schema.migrations.map(({ name }) => name)]),
  );
}

function read(path) {
  return readFileSync(root + path, 'utf8');
}
