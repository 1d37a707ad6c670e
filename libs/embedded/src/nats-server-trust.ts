import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { hasCode } from './error-code.js';
import { runCommand } from './run-command.js';

const VERSION_TIMEOUT_MS = 10_000;
/** Oldest supported version as [major, minor]. The service needs this version's configuration format and JetStream API. */
const OLDEST = [2, 9] as const;
const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_ALL = 0o002;

/** The version of a safe program, or why it must not run. */
export type Verdict = { version: string } | { reason: string };

/**
 * Decides whether an installed nats-server is safe to run. A user who can replace the program could read every NATS password and every
 * event.
 */
export async function judgeInstalled(path: string): Promise<Verdict> {
  const fault = await findFaultOf(path);
  return fault === undefined ? judgeVersion(path) : { reason: fault };
}

/** Finds a program on the PATH that no other user can replace. */
export async function findTrusted(program: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, program);
    // Missing or not executable: look in the next folder.
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable && (await findFaultOf(path)) === undefined) return path;
  }
  return undefined;
}

/** Returns how another user could replace the program, or undefined if none can. */
async function findFaultOf(path: string): Promise<string | undefined> {
  if (!isAbsolute(path)) return 'its path is not absolute';
  // Check the folder of the link, the folder of its target, and the target.
  const target = await realpath(path);
  for (const part of new Set([dirname(path), dirname(target), target])) {
    const fault = await findFault(part);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Checks that a program is a nats-server of a supported version. */
export async function judgeVersion(path: string): Promise<Verdict> {
  const { succeeded, output } = await runCommand(path, ['--version'], { timeoutMs: VERSION_TIMEOUT_MS });
  const [, version, major, minor] = /^nats-server: (v?(\d+)\.(\d+)\S*)/.exec(output) ?? [];
  if (!succeeded || version === undefined) return { reason: 'it does not run, or is not nats-server' };
  const isOld = Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
  return isOld
    ? { reason: `its version is ${version}, but the oldest supported version is ${OLDEST.join('.')}` }
    : { version };
}

async function findFault(path: string): Promise<string | undefined> {
  const { uid, gid, mode } = await stat(path);
  const user = process.getuid?.();
  if (user === undefined) return undefined; // Windows has no such modes
  if (uid !== 0 && uid !== user) return `${path} belongs to another user (${uid})`;
  if (mode & WRITABLE_BY_ALL) return `every user can write to ${path}`;
  // The user's own group may write: on many systems, it has no other members.
  if (mode & WRITABLE_BY_GROUP && gid !== 0 && gid !== process.getgid?.())
    return `the group ${gid} can write to ${path}`;
  return undefined;
}

function pinPath(program: string): string {
  return `${program}.sha256`;
}

/**
 * Records the program's SHA-256, so that later starts detect changes.
 *
 * @param content the file to hash, if the program is not at its final path yet
 */
export async function pinProgram(program: string, content = program): Promise<void> {
  await writeFile(pinPath(program), `${await hashFile(content)}\n`, { mode: 0o600, flush: true });
}

/**
 * Checks a program against its pin. Creates a missing pin, because earlier versions did not write one.
 *
 * @throws Error if the program has changed
 */
export async function checkPin(program: string): Promise<void> {
  const pinned = await readFile(pinPath(program), 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (pinned === undefined) {
    await pinProgram(program);
    return;
  }
  const found = await hashFile(program);
  if (found === pinned.trim()) return;
  throw new Error(
    `${program} has changed since it was extracted: its SHA-256 is ${found}, not ${pinned.trim()}. ` +
      `Find out who changed the file. To extract the program again, delete this file and ${pinPath(program)}`,
  );
}

/** SHA-256 in hexadecimal. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
