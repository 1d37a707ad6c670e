// npm run release -- <version> [--dry-run]: makes a release: sets the version everywhere, ends the section "Unreleased" of the change
// log, packs the npm package of libs/client, builds the image where a container engine is available, commits, and tags. It pushes and
// publishes nothing. With --dry-run, it changes nothing and prints what it would do.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { planRelease } from './release-plan.mjs';
import { build, markInstalled, npmCommand, prepare, root, run } from './prepare.mjs';

const args = process.argv.slice(2);
const isDryRun = args.includes('--dry-run');
const [version = ''] = args.filter((arg) => !arg.startsWith('--'));
const image = `stream-event-service:${version}`;

prepare();
try {
  const texts = planRelease(version, new Date().toISOString().slice(0, 10));
  if (!isDryRun) requireCleanTree();
  for (const [path, text] of texts) {
    say(`${isDryRun ? 'Would change' : 'Changing'} ${path}`);
    if (!isDryRun) writeFileSync(root + path, text);
  }
  if (!isDryRun) markInstalled();
  // Builds the packages with the new version.
  if (!isDryRun && !build()) throw new Error('the build failed');
  const steps = listSteps();
  for (const [purpose, command, ...options] of steps) {
    say(`${isDryRun ? 'Would run' : 'Running'}: ${[command, ...options].join(' ')} (${purpose})`);
    if (!isDryRun) run(command, options, `The release is not complete: ${purpose} failed.`);
  }
  if (!isDryRun)
    say(`Released ${version}. Publish it: git push --follow-tags, npm publish, and a push of the image`);
} catch (error) {
  process.stderr.write(`Cannot release: ${error.message}\n`);
  process.exit(1);
}

function listSteps() {
  const engine = ['docker', 'podman'].find(
    (name) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0,
  );
  if (!engine)
    say(
      `No container engine responds: build the image later with docker build -f deploy/Dockerfile -t ${image} .`,
    );
  if (!isDryRun) mkdirSync(`${root}dist`, { recursive: true });
  return [
    ['generated files', process.execPath, 'tools/generate.mjs'],
    [
      'format',
      process.execPath,
      'node_modules/prettier/bin/prettier.cjs',
      '--write',
      'libs/testing/released.json',
    ],
    ['npm package', ...npmCommand(), 'pack', './libs/client/dist', '--pack-destination', 'dist'],
    ...(engine
      ? [
          [
            'image',
            engine,
            'build',
            '--file',
            'deploy/Dockerfile',
            '--build-arg',
            `VERSION=${version}`,
            '--tag',
            image,
            '.',
          ],
        ]
      : []),
    ['commit', 'git', 'commit', '--all', '--message', `chore: release ${version}`],
    ['tag', 'git', 'tag', '--annotate', `v${version}`, '--message', `Version ${version}`],
  ];
}

function requireCleanTree() {
  const { status, stdout, stderr } = spawnSync('git', ['status', '--porcelain'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`git status failed:\n${stderr}`);
  if (stdout !== '') throw new Error(`commit or stash your changes first:\n${stdout}`);
}

function say(line) {
  process.stdout.write(`  ${line}\n`);
}
