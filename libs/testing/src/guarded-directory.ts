import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, realpath, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A temporary directory for one embedded server, or for one in each subfolder. If the test run is killed, a guard process stops the servers
 * and removes the directory.
 */
export interface GuardedDirectory {
  path: string;
  /** Removes the directory and stops the guard. Stop the server first. */
  remove(): Promise<void>;
}

/**
 * The guard's shell script. End of input before any line means that the test run was killed. The guard then kills the servers whose pid
 * files are in the directory, and removes the directory.
 *
 * The guard kills a process only if its command line contains the directory. A starting server has two seconds to write its pid file.
 * SIGQUIT is PostgreSQL's immediate shutdown, which also ends its workers.
 */
const GUARD_SCRIPT = `
read -r _ && exit 0
command_line() { { tr '\\0' ' ' < "/proc/$1/cmdline" || ps -ww -o command= -p "$1"; } 2>/dev/null; }
is_ours() { case "$(command_line "$1")" in *"$GUARDED_DIRECTORY"*) return 0 ;; *) return 1 ;; esac; }
end() {
  for file in "$GUARDED_DIRECTORY"/$1 "$GUARDED_DIRECTORY"/*/$1; do
    pid=$(head -n 1 "$file" 2>/dev/null) && [ -n "$pid" ] && is_ours "$pid" && kill -s "$2" "$pid"
  done
}
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  end postgres/data/postmaster.pid QUIT
  end nats/nats-server.pid KILL
  sleep 0.1
done
rm -rf -- "$GUARDED_DIRECTORY"
`;

const isRoot = process.getuid?.() === 0;

const memoryDirectory = '/dev/shm';
// The servers of a run hold about 300 MiB at a time. The test processes need most of the rest.
const neededMemoryBytes = 8 * 1024 ** 3;

/**
 * Chooses /dev/shm, whose files Linux keeps in memory, if enough memory is free. A PostgreSQL database has a thousand files. On ext4,
 * after other files were removed, `CREATE DATABASE` needs up to ten times the CPU time, because ext4 does not reuse their inodes for some
 * seconds.
 */
async function chooseParent(): Promise<string> {
  const freeBytes = await statfs(memoryDirectory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  if (Math.min(freeBytes, process.availableMemory()) >= neededMemoryBytes) return memoryDirectory;
  // Under root, PostgreSQL runs as another user, and this user cannot enter a TMPDIR below /root.
  return isRoot ? '/tmp' : tmpdir();
}

export async function createGuardedDirectory(): Promise<GuardedDirectory> {
  const path = await realpath(await mkdtemp(join(await chooseParent(), 'stream-events-test-')));
  if (isRoot) await chmod(path, 0o711);
  const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT], {
    // A separate session: Ctrl-C kills the test run, but not the guard.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', GUARDED_DIRECTORY: path },
  });
  await once(guard, 'spawn');
  // Ignore the write error if the guard has already exited.
  guard.stdin.on('error', () => undefined);
  guard.unref();

  const remove = async (): Promise<void> => {
    await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    guard.stdin.end('done\n');
  };
  return { path, remove };
}
