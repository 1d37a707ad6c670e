import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary directory for one embedded server, watched over by a process of its own. */
export interface GuardedDirectory {
  path: string;
  /** Removes the directory and ends the guard. Stop the server first. */
  remove(): Promise<void>;
}

/**
 * Outlives this process by the moment it needs: when the pipe to it closes without a word, this process was
 * killed, so the guard ends the server that has its pid file in the directory (and the directory in its command
 * line: nothing else may be hit), and removes the directory. A server that is just starting gets two seconds to
 * write its pid file. SIGQUIT is the immediate shutdown of PostgreSQL, which ends its workers too.
 */
const GUARD_SCRIPT = `
read -r _ && exit 0
command_line() { { tr '\\0' ' ' < "/proc/$1/cmdline" || ps -ww -o command= -p "$1"; } 2>/dev/null; }
is_ours() { case "$(command_line "$1")" in *"$GUARDED_DIRECTORY"*) return 0 ;; *) return 1 ;; esac; }
end() {
  pid=$(head -n 1 "$GUARDED_DIRECTORY/$1" 2>/dev/null) && [ -n "$pid" ] && is_ours "$pid" && kill -s "$2" "$pid"
}
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  end postgres/data/postmaster.pid QUIT
  end nats/nats-server.pid KILL
  sleep 0.1
done
rm -rf -- "$GUARDED_DIRECTORY"
`;

/** Creates the directory, with its guard already on duty. */
export async function createGuardedDirectory(): Promise<GuardedDirectory> {
  const isRoot = process.getuid?.() === 0;
  // As root PostgreSQL runs as another user, who must be able to enter, which a TMPDIR below /root prevents.
  const path = await realpath(await mkdtemp(join(isRoot ? '/tmp' : tmpdir(), 'stream-events-test-')));
  if (isRoot) await chmod(path, 0o711);
  const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT], {
    // Its own session: the Ctrl-C that kills us must not kill the guard.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', GUARDED_DIRECTORY: path },
  });
  await once(guard, 'spawn');
  // The guard ends when its work is done; a write to it after that is of no interest.
  guard.stdin.on('error', () => undefined);
  guard.unref();

  const remove = async (): Promise<void> => {
    await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    guard.stdin.end('done\n');
  };
  return { path, remove };
}
