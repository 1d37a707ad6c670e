import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { hasCode } from './error-code.js';
import { runCommand } from './run-command.js';

const VERSION_TIMEOUT_MS = 10_000;
/** The oldest version whose configuration and JetStream API the service uses, as [major, minor]. */
const OLDEST = [2, 9] as const;
const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_ALL = 0o002;

/** The version of a program that is safe to start, or the reason why the program must not be started. */
export type Verdict = { version: string } | { reason: string };

/**
 * Decides whether to run an installed program as nats-server. If another user could replace the program, that user could get every password
 * of NATS and read every event.
 */
export async function judgeInstalled(path: string): Promise<Verdict> {
  const fault = await findFaultOf(path);
  return fault === undefined ? judgeVersion(path) : { reason: fault };
}

/** Finds a program on the PATH that no other user can replace. */
export async function findTrusted(program: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, program);
    // The program does not exist, or this user has no permission to run it: look in the next folder.
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable && (await findFaultOf(path)) === undefined) return path;
  }
  return undefined;
}

/** Returns the reason why another user could replace a program. Returns undefined when no other user can. */
async function findFaultOf(path: string): Promise<string | undefined> {
  if (!isAbsolute(path)) return 'its path is not absolute';
  // A link is as safe as its own folder and the program that it points to.
  const target = await realpath(path);
  for (const part of new Set([dirname(path), dirname(target), target])) {
    const fault = await findFault(part);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Decides whether a program is a nats-server of a supported version. */
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
  if (user === undefined) return undefined; // Windows has other permissions
  if (uid !== 0 && uid !== user) return `${path} belongs to another user (${uid})`;
  if (mode & WRITABLE_BY_ALL) return `every user can write to ${path}`;
  // The user's own group may write: on many systems, each user has a group of the same name without other members.
  if (mode & WRITABLE_BY_GROUP && gid !== 0 && gid !== process.getgid?.())
    return `the group ${gid} can write to ${path}`;
  return undefined;
}

function pinPath(program: string): string {
  return `${program}.sha256`;
}

/**
 * Records the SHA-256 of a program, so that later starts notice a change.
 *
 * @param content the file with the program, if it is not at its final path yet
 */
export async function pinProgram(program: string, content = program): Promise<void> {
  await writeFile(pinPath(program), `${await hashFile(content)}\n`, { mode: 0o600, flush: true });
}

/**
 * Checks a program against its pin. If an earlier version stored the program without a pin, creates the pin.
 *
 * @throws Error when the program has changed
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

/** The SHA-256 of a file, in hexadecimal digits. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
