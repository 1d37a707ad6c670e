import { randomBytes, randomUUID } from 'node:crypto';
import { chown, mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from './error-code.js';
import type { PostgresSite } from './postgres-site.js';
import { runCommand, type Log } from './run-command.js';
import { syncDirectory } from './sync-directory.js';

/** The superuser of the cluster. */
export const SUPERUSER = 'postgres';

/** Time limit for initdb, which usually takes seconds. Slow disks need minutes. */
const INITDB_TIMEOUT_MS = 300_000;
/** Time limit for single-user mode. Includes crash recovery, which replays up to 1 GB (max_wal_size). */
const SINGLE_USER_TIMEOUT_MS = 180_000;
const DRAFT_PREFIX = 'data.draft-';

export function dataPath(site: PostgresSite): string {
  return join(site.home, 'data');
}

/**
 * Reads the superuser's password from its file, or sets a new password if there is no file. There is no file at the first start, and
 * after an operator deleted the file to rotate the password. The server must not be running. Only the current user can read the file.
 */
export async function readOrReplacePassword(directory: string, site: PostgresSite): Promise<string> {
  const path = join(directory, 'postgres-password');
  const existing = (await unlessMissing(readFile(path, 'utf8')))?.trim();
  if (existing) return existing;
  const password = randomBytes(24).toString('hex');
  // Change the password first, then write the file. If a crash separates the two steps, the next start finds no file and sets another
  // password.
  if (await hasCluster(site)) await setPassword(site, password);
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${password}\n`, { mode: 0o600, flag: 'wx', flush: true });
  await rename(draft, path);
  return password;
}

async function hasCluster(site: PostgresSite): Promise<boolean> {
  return (await unlessMissing(stat(dataPath(site)))) !== undefined;
}

/** Uses single-user mode, which needs no password. */
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
  // Single-user mode exits with 0 even if a statement failed, so search its output for errors.
  if (succeeded && !/ERROR|FATAL|PANIC/.test(output)) return;
  throw new Error(
    `PostgreSQL cannot set the password of ${SUPERUSER} in ${dataPath(site)}:\n${output.replaceAll(password, '…').slice(-2_000)}`,
  );
}

/**
 * Creates the cluster if there is none. initdb writes to a draft folder, and a rename completes it. A killed start leaves only a draft,
 * which the next start removes. The caller must hold the lock on `site.home`.
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
    // Sorts by code point and recognizes letters beyond ASCII. Works the same on every platform, without system libraries.
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

/** Removes drafts of killed starts. Removal can fail while a leftover initdb still writes to its draft. The next start tries again. */
async function removeDrafts(home: string, log: Log): Promise<void> {
  const drafts = (await readdir(home)).filter((name) => name.startsWith(DRAFT_PREFIX));
  for (const draft of drafts) {
    log(`PostgreSQL: removing ${join(home, draft)}, which an interrupted first start left behind`);
    await rm(join(home, draft), { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }).catch(
      (error: unknown) => log(`PostgreSQL: cannot remove this folder yet: ${String(error)}`),
    );
  }
}
