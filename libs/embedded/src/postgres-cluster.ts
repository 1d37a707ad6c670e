import { randomBytes, randomUUID } from 'node:crypto';
import { chown, mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from './error-code.js';
import type { PostgresSite } from './postgres-site.js';
import { runCommand, type Log } from './run-command.js';
import { syncDirectory } from './sync-directory.js';

/** The superuser of the cluster. */
export const SUPERUSER = 'postgres';

/** initdb usually takes seconds; the limit allows for the slowest disks. */
const INITDB_TIMEOUT_MS = 300_000;
/** Includes the time for crash recovery, which replays up to max_wal_size (1 GB). */
const SINGLE_USER_TIMEOUT_MS = 180_000;
const DRAFT_PREFIX = 'data.draft-';

export function dataPath(site: PostgresSite): string {
  return join(site.home, 'data');
}

/**
 * Reads the superuser's password from its file. If the file is missing, sets a new password. The file is missing at the first start, and
 * after somebody deletes it to rotate the password. Only the current user can read the file. The server must not be running.
 */
export async function readOrReplacePassword(directory: string, site: PostgresSite): Promise<string> {
  const path = join(directory, 'postgres-password');
  const existing = (await unlessMissing(readFile(path, 'utf8')))?.trim();
  if (existing) return existing;
  const password = randomBytes(24).toString('hex');
  // Change the password in the cluster first, then write the file. After a crash between the two steps, the file is still
  // missing, so the next start chooses another password.
  if (await hasCluster(site)) await setPassword(site, password);
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${password}\n`, { mode: 0o600, flag: 'wx', flush: true });
  await rename(draft, path);
  return password;
}

async function hasCluster(site: PostgresSite): Promise<boolean> {
  return (await unlessMissing(stat(dataPath(site)))) !== undefined;
}

/** Sets the superuser's password in single-user mode, which needs no password. */
async function setPassword(site: PostgresSite, password: string): Promise<void> {
  const { succeeded, output } = await runCommand(
    site.binaries.postgres,
    ['--single', '-D', dataPath(site), 'postgres'],
    {
      timeoutMs: SINGLE_USER_TIMEOUT_MS,
      account: site.account,
      input: `ALTER ROLE ${SUPERUSER} PASSWORD '${password}'\n`,
    },
  );
  // After a failed statement, single-user mode exits with 0, and its output repeats the statement.
  if (succeeded && !/ERROR|FATAL|PANIC/.test(output)) return;
  throw new Error(
    `PostgreSQL cannot set the password of ${SUPERUSER} in ${dataPath(site)}:\n${output.replaceAll(password, '…').slice(-2_000)}`,
  );
}

/**
 * Creates the cluster when there is none. initdb writes to a draft folder, which is renamed at the end. A killed start
 * therefore leaves only the draft, which the next start removes. The caller holds the lock of the home.
 */
export async function ensureCluster(
  site: PostgresSite,
  options: { password: string; durable: boolean; log: Log },
): Promise<void> {
  await removeDrafts(site.home, options.log);
  if (await hasCluster(site)) return;
  options.log(`PostgreSQL: creating the database in ${dataPath(site)}`);
  const draft = join(site.home, `${DRAFT_PREFIX}${randomUUID()}`);
  const passwordFile = join(site.home, `${DRAFT_PREFIX}${randomUUID()}.password`);
  try {
    await mkdir(draft, { mode: 0o700 });
    await writeFile(passwordFile, options.password, { mode: 0o600, flag: 'wx' });
    if (site.account) {
      await chown(draft, site.account.uid, site.account.gid);
      await chown(passwordFile, site.account.uid, site.account.gid);
    }
    await runInitdb(site, draft, passwordFile, options.durable);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, dataPath(site));
  await syncDirectory(site.home);
}

async function runInitdb(
  site: PostgresSite,
  draft: string,
  passwordFile: string,
  durable: boolean,
): Promise<void> {
  const args = [
    `--pgdata=${draft}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // This locale sorts by code point and recognizes letters beyond ASCII. It works the same on every platform, without system libraries.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    ...(durable ? [] : ['--no-sync']),
  ];
  const result = await runCommand(site.binaries.initdb, args, {
    timeoutMs: INITDB_TIMEOUT_MS,
    account: site.account,
  });
  if (!result.succeeded)
    throw new Error(`initdb for ${dataPath(site)} failed:\n${result.output.slice(-2_000)}`);
}

/**
 * Removes the drafts of killed starts. The initdb of a killed start can still be writing to its draft. If a draft cannot be removed now,
 * the next start tries again.
 */
async function removeDrafts(home: string, log: Log): Promise<void> {
  const drafts = (await readdir(home)).filter((name) => name.startsWith(DRAFT_PREFIX));
  for (const draft of drafts) {
    log(`PostgreSQL: removing ${join(home, draft)}, which an interrupted first start left behind`);
    await rm(join(home, draft), { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }).catch(
      (error: unknown) => log(`PostgreSQL: cannot remove this folder yet: ${String(error)}`),
    );
  }
}
