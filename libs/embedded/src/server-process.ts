import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { plainEnvironment, type Account } from './run-command.js';
import { isProgram, waitForEnd } from './running-process.js';

/** How a server process ended. */
export interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** One step of stopping: the signal, and how long to wait for the end before the next, harsher step. */
export interface StopStep {
  signal: NodeJS.Signals;
  waitMs: number;
}

export interface ServerCommand {
  command: string;
  args: readonly string[];
  logFile: string;
  account?: Account | undefined;
}

const KILL: StopStep = { signal: 'SIGKILL', waitMs: 10_000 };
const TAIL_LINES = 15;

/** A server running as a child process. */
export class ServerProcess {
  readonly exited: Promise<ServerExit>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly command: ServerCommand,
  ) {
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
  }

  static async start(command: ServerCommand): Promise<ServerProcess> {
    // The log of the run before is kept, older ones are not: the file must not grow for ever.
    await rename(command.logFile, `${command.logFile}.1`).catch(() => undefined);
    const log = await open(command.logFile, 'w', 0o600);
    try {
      const child = spawn(command.command, command.args, {
        // Its own session: Ctrl-C in the terminal reaches only us, and we decide the order of stopping.
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
        cwd: '/',
        env: plainEnvironment(),
        ...(command.account ? { uid: command.account.uid, gid: command.account.gid } : {}),
      });
      const server = new ServerProcess(child, command);
      await once(child, 'spawn');
      return server;
    } finally {
      await log.close();
    }
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error(`${this.command.command} was not started`);
    return this.child.pid;
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Resolves when `isReady` returns true; throws with the end of the log when it ends or takes too long. */
  async waitUntilReady(isReady: () => Promise<boolean>, timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (!this.hasExited) {
      if (await isReady()) return;
      if (Date.now() >= deadline) throw await this.failure(`was not ready within ${timeoutMs / 1000} s`);
      await wait(20);
    }
    throw await this.failure('ended while it started');
  }

  async stop(steps: readonly StopStep[]): Promise<void> {
    for (const step of [...steps, KILL]) {
      if (this.hasExited) return;
      this.child.kill(step.signal);
      const giveUp = new AbortController();
      await Promise.race([
        this.exited,
        wait(step.waitMs, undefined, { signal: giveUp.signal }).catch(() => undefined),
      ]);
      giveUp.abort();
    }
    if (!this.hasExited) throw await this.failure('did not end even after SIGKILL');
  }

  private async failure(what: string): Promise<ServerStartError> {
    const { command, logFile } = this.command;
    return new ServerStartError(`${command} ${what}.`, logFile, await readTail(logFile));
  }
}

/** A server did not start or stop; the message carries the last lines of its log. */
export class ServerStartError extends Error {
  constructor(
    what: string,
    logFile: string,
    readonly logTail: string,
  ) {
    super(`${what} The last lines of ${logFile}:\n${logTail || '(it is empty)'}`);
    this.name = 'ServerStartError';
  }
}

/** A server of an earlier run that may have outlived it. */
export interface Orphan {
  pid: number;
  program: string;
  /** A path in its command line that only our server on this folder has. */
  argument: string;
}

/** Stops the orphan if the pid still is that very program; never touches another one. */
export async function stopOrphan(
  orphan: Orphan,
  steps: readonly StopStep[],
): Promise<'stopped' | 'not-ours'> {
  const { pid, program, argument } = orphan;
  if (!(await isProgram(pid, program, argument))) return 'not-ours';
  for (const step of [...steps, KILL]) {
    // Looked at again before each signal: meanwhile it may have ended and its pid been reused.
    if (!(await isProgram(pid, program, argument))) return 'stopped';
    process.kill(pid, step.signal);
    if (await waitForEnd(pid, step.waitMs)) return 'stopped';
  }
  throw new Error(
    `Process ${pid} (${program} on ${argument}) of an earlier run does not end. Stop it by hand.`,
  );
}

async function readTail(path: string): Promise<string> {
  const content = await readFile(path, 'utf8').catch(() => '');
  return content.trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}
