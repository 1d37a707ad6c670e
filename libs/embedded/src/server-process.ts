import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { currentSystem, type OperatingSystem } from './operating-system.js';
import { plainEnvironment, type Account } from './run-command.js';
import { isProgram, waitForEnd } from './running-process.js';

export interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A signal, and the time to wait before the next, harsher step. */
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
/**
 * Time limit for startup. After a crash, PostgreSQL replays its log and nats-server reads its streams, which takes many minutes on a slow
 * disk. A server stopped during this work starts over next time.
 */
export const readyTimeoutMs = 3_600_000;
const reportIntervalMs = 10_000;
const TAIL_LINES = 15;

export interface WaitOptions {
  /** Called every 10 s with the elapsed time, because recovery after a crash can take minutes. */
  onWait: (seconds: number) => void;
  /** Aborts the wait. */
  signal?: AbortSignal | undefined;
}

/** A running server. */
export interface RunningServer {
  pid: number;
  /** Resolves when the server ends for any reason. */
  exited: Promise<ServerExit>;
  /**
   * Resolves when `isReady` returns true. Throws an error with the end of the log if the server exits first, or is not ready within the
   * time limit.
   */
  waitUntilReady(isReady: () => Promise<boolean>, options: WaitOptions): Promise<void>;
  /** Runs the steps in order until the server ends. Kills a server that still runs after all steps. */
  stop(steps: readonly StopStep[]): Promise<void>;
}

export class ServerProcess implements RunningServer {
  readonly exited: Promise<ServerExit>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly command: ServerCommand,
    private readonly system: OperatingSystem,
  ) {
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
  }

  /** @param system only tests pass another system */
  static async start(
    command: ServerCommand,
    system: OperatingSystem = currentSystem,
  ): Promise<ServerProcess> {
    await keepPreviousLog(command.logFile);
    const log = await open(command.logFile, 'w', 0o600);
    try {
      const child = spawn(command.command, command.args, {
        // Run in a separate session: Ctrl-C then reaches only this process, which stops services before servers. On Windows, a hidden
        // console does the same.
        detached: system.hasSignals,
        windowsHide: true,
        stdio: system.inheritsLogFiles ? ['ignore', log.fd, log.fd] : ['ignore', 'pipe', 'pipe'],
        cwd: system.rootFolder,
        env: plainEnvironment(),
        ...(command.account ? { uid: command.account.uid, gid: command.account.gid } : {}),
      });
      for (const output of [child.stdout, child.stderr])
        output?.pipe(createWriteStream(command.logFile, { flags: 'a' }));
      const server = new ServerProcess(child, command, system);
      await once(child, 'spawn');
      stopAtExit(child, system);
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

  async waitUntilReady(isReady: () => Promise<boolean>, { onWait, signal }: WaitOptions): Promise<void> {
    const startedAt = performance.now();
    let reportedMs = 0;
    while (!this.hasExited) {
      if (await isReady()) return;
      signal?.throwIfAborted();
      const elapsedMs = performance.now() - startedAt;
      if (elapsedMs >= readyTimeoutMs)
        throw await this.failure(`was not ready within ${readyTimeoutMs / 60_000} min`);
      if (elapsedMs >= reportedMs + reportIntervalMs) {
        reportedMs = elapsedMs;
        onWait(Math.round(elapsedMs / 1_000));
      }
      await wait(20);
    }
    throw await this.failure('exited during its start');
  }

  async stop(steps: readonly StopStep[]): Promise<void> {
    for (const step of [...(this.system.hasSignals ? steps : []), KILL]) {
      if (this.hasExited) return;
      this.child.kill(step.signal);
      const giveUp = new AbortController();
      await Promise.race([
        this.exited,
        // Only the abort below rejects this promise, after the race is over.
        wait(step.waitMs, undefined, { signal: giveUp.signal }).catch(() => undefined),
      ]);
      giveUp.abort();
    }
    if (!this.hasExited) throw await this.failure('did not exit after SIGKILL');
  }

  private async failure(what: string): Promise<ServerStartError> {
    const { command, logFile } = this.command;
    return new ServerStartError(`${command} ${what}.`, logFile, await readTail(logFile));
  }
}

const children = new Set<ChildProcess>();

/**
 * Signals the server if this process exits without stopping it, for example at a second Ctrl-C. Without the signal, the server would
 * run until the next start.
 */
function stopAtExit(child: ChildProcess, system: OperatingSystem): void {
  if (!system.hasSignals) return;
  if (children.size === 0) process.on('exit', stopChildren);
  children.add(child);
  child.once('exit', () => {
    children.delete(child);
    if (children.size === 0) process.off('exit', stopChildren);
  });
}

function stopChildren(): void {
  for (const child of children) child.kill('SIGINT');
}

/** Keeps one previous log and drops older ones, so that logs do not fill the disk. */
export async function keepPreviousLog(logFile: string): Promise<void> {
  // Fails at the first start, which has no earlier log. Opening the log reports any other problem.
  await rename(logFile, `${logFile}.1`).catch(() => undefined);
}

/** A server failed to start or stop. The message contains the end of its log. */
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

/** A server that may still run after its parent process ended. */
export interface Orphan {
  pid: number;
  program: string;
  /** A path that occurs only in this server's command line. */
  argument: string;
}

/** Stops the orphan. Checks the process's command line before each signal, so never signals another program. */
export async function stopOrphan(
  orphan: Orphan,
  steps: readonly StopStep[],
): Promise<'stopped' | 'not-ours'> {
  const { pid, program, argument } = orphan;
  if (!(await isProgram(pid, program, argument))) return 'not-ours';
  for (const step of [...(currentSystem.hasSignals ? steps : []), KILL]) {
    // The server may have ended, and another program may have its pid.
    if (!(await isProgram(pid, program, argument))) return 'stopped';
    process.kill(pid, step.signal);
    if (await waitForEnd(pid, step.waitMs)) return 'stopped';
  }
  throw new Error(
    `Process ${pid} (${program} on ${argument}) of an earlier run does not exit. Stop it yourself, then start again.`,
  );
}

/** The last 15 lines of a log. */
export async function readTail(path: string): Promise<string> {
  // Ignore a missing log: it would only add detail to an error that already names the file.
  const content = await readFile(path, 'utf8').catch(() => '');
  return content.trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}
