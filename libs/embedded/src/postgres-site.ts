import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { choosePostgresAccount } from './postgres-account.js';
import {
  findPostgresBinaries,
  makeReachable,
  sharedDirectory,
  type PostgresBinaries,
} from './postgres-binaries.js';
import { runCommand, type Account, type Log } from './run-command.js';

/** Where and as whom a PostgreSQL server runs. */
export interface PostgresSite {
  /** Holds the data folder, the lock and the log; the server's account can pass through it, not write to it. */
  home: string;
  /** Undefined: as ourselves. */
  account: Account | undefined;
  binaries: PostgresBinaries;
}

const POINTER_FILE = 'postgres-is-elsewhere.txt';
const PROBE_TIMEOUT_MS = 10_000;

/**
 *   started by | directory reachable for the account | home of the data
 *   -----------|-------------------------------------|------------------------------------------------
 *   user       | always                              | <directory>/postgres
 *   root       | yes                                 | <directory>/postgres
 *   root       | no (e.g. below /root)               | /var/lib/stream-events/<hash of directory>, and
 *              |                                     | a pointer file in <directory>, which then decides
 */
export async function choosePostgresSite(givenDirectory: string, log: Log): Promise<PostgresSite> {
  const isRoot = process.getuid?.() === 0;
  const directory = await openDirectory(givenDirectory, isRoot);
  const binaries = await findPostgresBinaries();
  const near = join(directory, 'postgres');
  const far = await readPointer(directory);

  if (!isRoot) {
    if (far !== undefined) throw new Error(movedAway(directory, far, 'start as root'));
    await mkdir(near, { recursive: true, mode: 0o700 });
    await access(near, constants.W_OK).catch(() => {
      throw new Error(`${near} belongs to another user. Start as that user, or use another data folder.`);
    });
    return { home: near, account: undefined, binaries };
  }
  const home = far === undefined ? near : await farHome(directory);
  if (far !== undefined && far !== home) {
    throw new Error(movedAway(directory, far, `rename ${far} to ${home} and write that path into the file`));
  }
  const account = await choosePostgresAccount(join(home, 'data'), log);
  if (!account) return { home, account, binaries };
  const reachable = await makeReachable(binaries, account, log);
  await openDirectory(home, isRoot);
  if (await canEnter(home, account)) return { home, account, binaries: reachable };
  return { home: await moveAway(directory, home, account, log), account, binaries: reachable };
}

/** Folders that we create may be passed through by the server's account, but not listed. */
async function openDirectory(directory: string, isRoot: boolean): Promise<string> {
  const created = await mkdir(directory, { recursive: true });
  if (created !== undefined && isRoot) await chmod(directory, 0o711);
  return realpath(directory);
}

/** Tried for real: modes of all folders above, ACLs and security modules all have a say. */
async function canEnter(directory: string, account: Account): Promise<boolean> {
  const args = ['-c', 'cd -- "$1"', 'sh', directory];
  return (await runCommand('/bin/sh', args, { timeoutMs: PROBE_TIMEOUT_MS, account })).succeeded;
}

async function moveAway(directory: string, near: string, account: Account, log: Log): Promise<string> {
  const hasData = await stat(join(near, 'data')).catch(() => undefined);
  if (hasData) {
    throw new Error(
      `PostgreSQL runs as the user "${account.name}", who can no longer enter ${near}, where its data is. ` +
        'Let others pass through the folders above it (chmod o+x), or move the data folder.',
    );
  }
  const home = await farHome(directory);
  await openDirectory(home, true);
  if (!(await canEnter(home, account))) throw new Error(`The user "${account.name}" cannot enter ${home}.`);
  await writeFile(join(directory, POINTER_FILE), `${home}\n`);
  log(
    `PostgreSQL does not run as root, and its user "${account.name}" cannot enter ${directory}: ` +
      `the database is kept in ${home} (noted in ${POINTER_FILE}).`,
  );
  return home;
}

async function farHome(directory: string): Promise<string> {
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 16);
  return join(await sharedDirectory(), `data-${hash}`);
}

async function readPointer(directory: string): Promise<string | undefined> {
  const content = await readFile(join(directory, POINTER_FILE), 'utf8').catch(() => undefined);
  return content?.trim();
}

function movedAway(directory: string, far: string, remedy: string): string {
  return (
    `The database of ${directory} is kept in ${far}, as ${POINTER_FILE} says, and cannot be used from here. ` +
    `To use it, ${remedy}. To begin with an empty database instead, remove ${join(directory, POINTER_FILE)}.`
  );
}
