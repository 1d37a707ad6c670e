// Keeps the npm commands of one checkout from installing or building at the same time: they would delete each other's files.
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { dirname, join } from 'node:path';

// Longer than an installation takes on a slow machine with a slow network.
const limitMinutes = 15;
const pollMs = 250;

/**
 * Runs the work while no other process does so in the same checkout. First waits up to 15 minutes for the other process. If that process is
 * still working then, prints what to do and exits. If this user cannot write the lock file, runs the work without it.
 *
 * @template T
 * @param {string} root the root folder of the checkout
 * @param {() => T} work must be synchronous
 * @returns {T}
 */
export function alone(root, work) {
  const lock = join(root, '.nx', 'prepare.lock');
  if (!takeLock(lock)) return work();
  const release = () => rmSync(lock, { force: true });
  // Needed because the work can exit the process.
  process.once('exit', release);
  try {
    return work();
  } finally {
    process.off('exit', release);
    release();
  }
}

/** Returns false if the lock file cannot be written. */
function takeLock(lock) {
  const deadline = Date.now() + limitMinutes * 60_000;
  let announced;
  for (;;) {
    const result = tryLock(lock);
    if (result !== 'held') return result === 'taken';
    const holder = readHolder(lock);
    if (holder === undefined) continue;
    if (!isRunning(holder)) {
      rmSync(lock, { force: true });
      continue;
    }
    if (Date.now() > deadline) giveUp(lock, holder);
    if (announced !== holder.pid)
      process.stdout.write(`  Waiting for process ${holder.pid}, which installs packages or builds here\n`);
    announced = holder.pid;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollMs);
  }
}

function tryLock(lock) {
  const own = `${lock}.${process.pid}`;
  try {
    mkdirSync(dirname(lock), { recursive: true });
    writeFileSync(own, String(process.pid));
    // A link appears together with its content. A new file is empty at first, so others could not read who holds it.
    linkSync(own, lock);
    return 'taken';
  } catch (error) {
    return error.code === 'EEXIST' ? 'held' : 'impossible';
  } finally {
    rmSync(own, { force: true });
  }
}

/** Returns undefined if the lock has just been released. */
function readHolder(lock) {
  try {
    return { pid: Number(readFileSync(lock, 'utf8')), since: statSync(lock).mtimeMs };
  } catch {
    return undefined;
  }
}

/** Process ids are used again, at the latest after a restart of the machine or of a container. */
function isRunning({ pid, since }) {
  const bootedAt = Date.now() - uptime() * 1_000;
  if (pid === process.pid || since < bootedAt) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function giveUp(lock, { pid }) {
  process.stderr.write(
    `Process ${pid} has been installing packages or building here for more than ${limitMinutes} minutes. End it and try again. ` +
      `If it is another program, delete ${lock}.\n`,
  );
  process.exit(1);
}
