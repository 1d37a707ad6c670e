import { constants } from 'node:fs';
import { access, copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { plainEnvironment, runCommand, type CommandResult, type Log } from './run-command.js';

/** Options of `findNatsServer`. */
export interface FindNatsServerOptions {
  /** Keeps an extracted nats-server for the next start; created when missing. */
  cacheDirectory: string;
  log: Log;
}

const PACKAGE = 'nats-server';
const VERSION_TIMEOUT_MS = 10_000;
/** Debian's package lists are about 10 MB and the package is 4 MB, which takes minutes on a slow connection. */
const DOWNLOAD_TIMEOUT_MS = 300_000;
/** Folders where package managers install nats-server. They are often not on the PATH of an ordinary user. */
const USUAL_FOLDERS = ['/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/opt/homebrew/bin'];

/**
 * Finds a nats-server that runs on this machine, in this order: installed; cached; extracted from the system's package, which
 * any user may do; as root, by installing that package.
 *
 * @throws Error that says how to install it when all of these fail
 */
export async function findNatsServer(options: FindNatsServerOptions): Promise<string> {
  const cacheDirectory = resolve(options.cacheDirectory);
  const cached = join(cacheDirectory, PACKAGE);
  const present = (await findInstalled()) ?? (await firstThatRuns([cached]));
  if (present !== undefined) return present;

  const reasons: string[] = [];
  if (await canRun('apt-get', 'dpkg-deb')) {
    const extracted = await extractPackage(cacheDirectory, options.log, reasons);
    if (extracted !== undefined) return extracted;
    if (process.getuid?.() === 0) {
      const installed = await installPackage(options.log, reasons);
      if (installed !== undefined) return installed;
    }
  } else {
    reasons.push('this system has no apt-get and dpkg-deb');
  }
  throw new Error(
    [
      'There is no nats-server on the PATH, and it cannot be downloaded:',
      ...reasons.map((reason) => `  - ${reason}`),
      'Install nats-server and start again:',
      '  Debian, Ubuntu: sudo apt-get install nats-server',
      '  macOS:          brew install nats-server',
      '  with Go:        go install github.com/nats-io/nats-server/v2@latest',
      '  any system:     https://github.com/nats-io/nats-server/releases (put the program on the PATH)',
    ].join('\n'),
  );
}

async function findInstalled(): Promise<string | undefined> {
  const onPath = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  const folders = [...onPath, ...USUAL_FOLDERS, join(homedir(), 'go', 'bin')];
  return firstThatRuns(folders.map((folder) => join(folder, PACKAGE)));
}

async function firstThatRuns(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!isExecutable) continue;
    const version = await runCommand(path, ['--version'], { timeoutMs: VERSION_TIMEOUT_MS });
    if (version.succeeded && version.output.startsWith('nats-server')) return path;
  }
  return undefined;
}

async function canRun(...commands: string[]): Promise<boolean> {
  const results = await Promise.all(
    commands.map((command) => runCommand(command, ['--version'], { timeoutMs: VERSION_TIMEOUT_MS })),
  );
  return results.every((result) => result.succeeded);
}

/** Works in its own folder and ends with one rename, so several processes may do it at the same time. */
async function extractPackage(
  cacheDirectory: string,
  log: Log,
  reasons: string[],
): Promise<string | undefined> {
  await mkdir(cacheDirectory, { recursive: true });
  const work = await mkdtemp(join(cacheDirectory, 'nats-server-download-'));
  try {
    log('NATS: nats-server is not installed; extracting it from the system package');
    const archive = await downloadPackage(work, log, reasons);
    if (archive === undefined) return undefined;
    const unpacked = join(work, 'unpacked');
    const unpack = await runCommand('dpkg-deb', ['-x', archive, unpacked], {
      timeoutMs: DOWNLOAD_TIMEOUT_MS,
    });
    const folders = ['usr/sbin', 'usr/bin'].map((folder) => join(unpacked, folder, PACKAGE));
    const program = await firstThatRuns(folders);
    if (program === undefined) {
      reasons.push(`the package ${PACKAGE} has no program that runs here: ${explain(unpack)}`);
      return undefined;
    }
    const staged = join(work, PACKAGE);
    await copyFile(program, staged, constants.COPYFILE_EXCL);
    const cached = join(cacheDirectory, PACKAGE);
    await rename(staged, cached);
    log(`NATS: extracted ${cached}`);
    return cached;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Uses the system's package lists, or downloads new lists when the system's are empty or old. */
async function downloadPackage(work: string, log: Log, reasons: string[]): Promise<string | undefined> {
  const direct = await aptGet(['download', PACKAGE], { cwd: work, options: [] });
  const found = await findArchive(work);
  if (direct.succeeded && found !== undefined) return found;

  log('NATS: the system package lists do not have nats-server; downloading new lists (about 10 MB)');
  const folders = ['state/lists/partial', 'cache/archives/partial'];
  await Promise.all(folders.map((folder) => mkdir(join(work, folder), { recursive: true })));
  const options = [
    `Dir::State=${join(work, 'state')}`,
    `Dir::State::lists=${join(work, 'state/lists')}`,
    'Dir::State::status=/var/lib/dpkg/status',
    `Dir::Cache=${join(work, 'cache')}`,
  ];
  const update = await aptGet(['update'], { cwd: work, options });
  const download = await aptGet(['download', PACKAGE], { cwd: work, options });
  const archive = await findArchive(work);
  if (download.succeeded && archive !== undefined) return archive;
  reasons.push(`apt-get download ${PACKAGE}: ${explain(download)}`);
  if (!update.succeeded) reasons.push(`apt-get update: ${explain(update)}`);
  return undefined;
}

async function findArchive(work: string): Promise<string | undefined> {
  const name = (await readdir(work)).find((entry) => entry.endsWith('.deb'));
  return name === undefined ? undefined : join(work, name);
}

async function installPackage(log: Log, reasons: string[]): Promise<string | undefined> {
  log('NATS: cannot extract the package; installing it with apt-get');
  const args = ['install', '--yes', '--no-install-recommends', PACKAGE];
  const install = await aptGet(args, { cwd: '/', options: [] });
  const installed = await findInstalled();
  if (installed === undefined) reasons.push(`apt-get install ${PACKAGE}: ${explain(install)}`);
  return installed;
}

interface AptOptions {
  cwd: string;
  options: readonly string[];
}

function aptGet(args: readonly string[], { cwd, options }: AptOptions): Promise<CommandResult> {
  // As root, apt would download as the user _apt, which cannot write to our folder. Timeouts keep a dead connection from blocking
  // the start.
  const settings = ['APT::Sandbox::User=root', 'Acquire::http::Timeout=20', 'Acquire::Retries=1', ...options];
  return runCommand('apt-get', [...settings.flatMap((setting) => ['-o', setting]), '-qq', ...args], {
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    cwd,
    env: { ...plainEnvironment(), DEBIAN_FRONTEND: 'noninteractive' },
  });
}

/** The errors of apt without its warnings, in one line. */
function explain(result: CommandResult): string {
  const lines = result.output.split('\n');
  const errors = lines.filter((line) => line.startsWith('E:'));
  return (errors.length > 0 ? errors : lines.slice(-2)).join(' ');
}
