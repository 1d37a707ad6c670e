// Helm, for the check of the chart and for releases.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const helmVersion = 'v3.22.0';

/** The user's cache for tools that take minutes to build or download. */
export const toolCache = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'stream-event-service',
);

/**
 * Returns helm from the PATH or the cache. Builds it with Go when neither has it, which takes some minutes.
 *
 * @param {(reason: string) => undefined} onMissing is called, and its result returned, when there is no helm and it cannot be built
 */
export function findHelm(onMissing) {
  if (isInstalled('helm', ['version'])) return 'helm';
  const cached = join(toolCache, `helm-${helmVersion}`);
  if (existsSync(join(cached, 'helm'))) return join(cached, 'helm');
  if (!isInstalled('go', ['version'])) return onMissing('It needs helm, or Go to build helm.');
  process.stdout.write(`Building helm ${helmVersion}, once\n`);
  mkdirSync(cached, { recursive: true });
  const env = { ...process.env, GOBIN: cached, GOFLAGS: '' };
  const build = ['install', '-trimpath', `helm.sh/helm/v3/cmd/helm@${helmVersion}`];
  if (spawnSync('go', build, { env, stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0)
    return onMissing('Go cannot build helm: see above.');
  return join(cached, 'helm');
}

/** Whether the command can be run on this machine. */
export function isInstalled(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
