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
import { unlessMissing } from './error-code.js';
import { isRoot } from './operating-system.js';
import { runCommand, type Account, type Log } from './run-command.js';

/** Where a PostgreSQL server keeps its files, and which user and programs run it. */
export interface PostgresSite {
  /** Parent of the data folder, lock, and log. Under root, the server's account can enter this folder but cannot write to it. */
  home: string;
  /** The user that runs the server. Undefined: the current user. */
  account: Account | undefined;
  binaries: PostgresBinaries;
}

export const POINTER_FILE = 'postgres-is-elsewhere.txt';
const PROBE_TIMEOUT_MS = 10_000;

/**
 * Chooses the data folder and the user that runs PostgreSQL:
 *
 *   started by | directory reachable for the account | home of the data
 *   -----------|-------------------------------------|------------------------------------------------
 *   user       | always                              | <directory>/postgres
 *   root       | yes                                 | <directory>/postgres
 *   root       | no (e.g. below /root)               | /var/lib/stream-events/<hash of directory>, and
 *              |                                     | a pointer file in <directory>, which then decides
 */
export async function choosePostgresSite(givenDirectory: string, log: Log): Promise<PostgresSite> {
  const asRoot = isRoot();
  const directory = await openDirectory(givenDirectory, asRoot);
  const binaries = await findPostgresBinaries();
  const near = join(directory, 'postgres');
  const far = await readPointer(directory);

  if (!asRoot) {
    if (far !== undefined) throw new Error(describeMovedData(directory, far, 'start as root'));
    await mkdir(near, { recursive: true, mode: 0o700 });
    await access(near, constants.W_OK).catch(() => {
      throw new Error(
        `You cannot write to ${near}: it belongs to another user. Start as that user, or use another data folder.`,
      );
    });
    return { home: near, account: undefined, binaries };
  }
  const home = far === undefined ? near : await farHome(directory);
  if (far !== undefined && far !== home) {
    throw new Error(
      describeMovedData(directory, far, `rename ${far} to ${home} and write that path into the file`),
    );
  }
  const account = await choosePostgresAccount(join(home, 'data'), log);
  if (!account) return { home, account, binaries };
  const reachable = await makeReachable(binaries, account, log);
  await openDirectory(home, asRoot);
  if (await canEnter(home, account)) return { home, account, binaries: reachable };
  return { home: await moveAway(directory, home, account, log), account, binaries: reachable };
}

/** Creates the folder if it is missing. A new folder of root lets the server's account pass through, but not list the content. */
async function openDirectory(directory: string, asRoot: boolean): Promise<string> {
  const created = await mkdir(directory, { recursive: true });
  if (created !== undefined && asRoot) await chmod(directory, 0o711);
  return realpath(directory);
}

/** Tries to enter the folder, because modes of parent folders, ACLs, and security modules can all prevent it. */
async function canEnter(directory: string, account: Account): Promise<boolean> {
  const args = ['-c', 'cd -- "$1"', 'sh', directory];
  return (await runCommand('/bin/sh', args, { timeoutMs: PROBE_TIMEOUT_MS, account })).succeeded;
}

async function moveAway(directory: string, near: string, account: Account, log: Log): Promise<string> {
  const hasData = await unlessMissing(stat(join(near, 'data')));
  if (hasData) {
    throw new Error(
      `PostgreSQL's user "${account.name}" can no longer enter ${near}, where its data is. ` +
        'Let others enter the folders above it (chmod o+x), or move the data folder.',
    );
  }
  const home = await farHome(directory);
  await openDirectory(home, true);
  if (!(await canEnter(home, account))) throw new Error(`The user "${account.name}" cannot enter ${home}.`);
  await writeFile(join(directory, POINTER_FILE), `${home}\n`);
  log(
    `PostgreSQL: the user "${account.name}" cannot enter ${directory}; ` +
      `creating the database in ${home} (recorded in ${POINTER_FILE})`,
  );
  return home;
}

async function farHome(directory: string): Promise<string> {
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 16);
  return join(await sharedDirectory(), `data-${hash}`);
}

async function readPointer(directory: string): Promise<string | undefined> {
  const content = await unlessMissing(readFile(join(directory, POINTER_FILE), 'utf8'));
  return content?.trim();
}

function describeMovedData(directory: string, far: string, remedy: string): string {
  return (
    `The database of ${directory} is in ${far} (see ${POINTER_FILE}), and this start cannot use it. ` +
    `To use it, ${remedy}. To start with an empty database, remove ${join(directory, POINTER_FILE)}.`
  );
}
