import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from './error-code.js';
import { identifyProcess, isSameProcess, type ProcessIdentity } from './running-process.js';

/** A lock on a directory. Held until `release()` or until this process ends, even if the process is killed. */
export interface DirectoryLock {
  release(): Promise<void>;
}

/** Another process holds the lock. */
export class DirectoryLockedError extends Error {
  constructor(
    readonly directory: string,
    readonly pid: number,
  ) {
    super(`Process ${pid} is using the data in ${directory}. Stop that process, or use another data folder.`);
    this.name = 'DirectoryLockedError';
  }
}

const LOCK_FILE = /^lock\.(\d+)$/;
const RELEASED = 'released';

/**
 * Locks a directory for this process. Creates the directory if it is missing. Throws a DirectoryLockedError if another process on this
 * machine holds the lock.
 *
 * The lock is a file `lock.<generation>` that names its holder. Only the file with the highest generation counts. It is never removed, only
 * replaced by the next generation:
 *
 *   highest generation            | next step
 *   ------------------------------|----------------------------------------------------------
 *   none, released, holder ended  | create the next generation (atomic; a process that loses starts over)
 *   holder runs                   | DirectoryLockedError
 *   higher than our new file      | our list of files was outdated: remove our file, start over
 *
 * A single lock file would not be safe: of two processes that find it stale, one could remove the lock that the other has just created.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  await mkdir(directory, { recursive: true });
  const self = await identifyProcess(process.pid);
  if (!self)
    throw new Error(`Cannot lock ${directory}: process ${process.pid} cannot read its own start time.`);

  for (;;) {
    const latest = (await listGenerations(directory)).at(-1) ?? 0;
    const holder = latest === 0 ? undefined : await readHolder(lockPath(directory, latest));
    if (holder && (await isSameProcess(holder))) throw new DirectoryLockedError(directory, holder.pid);
    if (await claim(directory, latest + 1, self)) return holdLock(directory, latest + 1);
  }
}

function holdLock(directory: string, generation: number): DirectoryLock {
  let released: Promise<void> | undefined;
  return {
    release: () => (released ??= markReleased(directory, generation)),
  };
}

async function claim(directory: string, generation: number, self: ProcessIdentity): Promise<boolean> {
  const path = lockPath(directory, generation);
  const draft = await writeDraft(directory, JSON.stringify(self));
  try {
    // Linking is atomic: the file appears with its full content, and `link` fails if the name exists.
    await link(draft, path);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const generations = await listGenerations(directory);
  if (generations.some((other) => other > generation)) {
    await rm(path, { force: true });
    return false;
  }
  const older = generations.filter((other) => other < generation);
  await Promise.all(older.map((other) => rm(lockPath(directory, other), { force: true })));
  return true;
}

async function markReleased(directory: string, generation: number): Promise<void> {
  try {
    await rename(await writeDraft(directory, RELEASED), lockPath(directory, generation));
  } catch (error) {
    // Somebody removed the directory, and the lock with it.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

async function writeDraft(directory: string, content: string): Promise<string> {
  const draft = join(directory, `lock-draft.${randomUUID()}`);
  await writeFile(draft, content, { flag: 'wx', mode: 0o644 });
  return draft;
}

async function readHolder(path: string): Promise<ProcessIdentity | undefined> {
  try {
    return parseHolder(await readFile(path, 'utf8'));
  } catch (error) {
    // A newer generation has replaced this file. The next claim fails, and this process starts over.
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Returns undefined if the lock was released, or if a system crash damaged the file. */
export function parseHolder(content: string): ProcessIdentity | undefined {
  const match = /^\{"pid":(\d+),"startedAt":"([^"]*)"\}$/.exec(content);
  if (!match?.[1] || match[2] === undefined) return undefined;
  return { pid: Number(match[1]), startedAt: match[2] };
}

async function listGenerations(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names
    .flatMap((name) => LOCK_FILE.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((left, right) => left - right);
}

function lockPath(directory: string, generation: number): string {
  return join(directory, `lock.${generation}`);
}
