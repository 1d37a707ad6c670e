import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from './error-code.js';
import { identifyProcess, isSameProcess, type ProcessIdentity } from './running-process.js';

/** Held until `release()`, or until the process ends in whatever way. */
export interface DirectoryLock {
  release(): Promise<void>;
}

/** Another process that still runs holds the lock of the directory. */
export class DirectoryLockedError extends Error {
  constructor(
    readonly directory: string,
    readonly pid: number,
  ) {
    super(
      `The data in ${directory} is in use by process ${pid}. Stop that process, or use another data folder.`,
    );
    this.name = 'DirectoryLockedError';
  }
}

const LOCK_FILE = /^lock\.(\d+)$/;
const RELEASED = 'released';

/**
 * Makes sure that one process at a time uses a directory (created when missing), on one machine.
 *
 * The lock is a file `lock.<generation>` naming its holder; the highest generation counts, and it is never
 * removed, only followed by the next one:
 *
 *   highest generation            | next step
 *   ------------------------------|----------------------------------------------------------
 *   none, released, holder ended  | create the next one (atomic; who loses looks again)
 *   holder runs                   | DirectoryLockedError
 *   a higher one beside our new   | we looked too long ago: remove ours, look again
 *
 * Removing a stale file and creating it anew would let two processes each remove the other's fresh lock.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  await mkdir(directory, { recursive: true });
  const self = await identifyProcess(process.pid);
  if (!self) throw new Error(`Process ${process.pid} cannot read its own start time to lock ${directory}.`);

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
    // A link appears with its whole content at once, and fails when the name exists.
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
    // The whole directory was removed: there is nothing left to release.
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
    // A newer generation has just replaced it: claiming the next one fails then.
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Undefined when the lock was released, or when the file was damaged by a crash of the machine. */
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
