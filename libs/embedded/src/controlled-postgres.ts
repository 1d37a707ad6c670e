import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, open } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { OperatingSystem } from './operating-system.js';
import { plainEnvironment, runCommand, type Account } from './run-command.js';
import { isRunning, waitForEnd } from './running-process.js';
import {
  keepPreviousLog,
  readTail,
  ServerStartError,
  type RunningServer,
  type ServerExit,
  type StopStep,
} from './server-process.js';

export interface ControlledPostgresCommand {
  pgCtl: string;
  dataDirectory: string;
  args: readonly string[];
  logFile: string;
  account: Account | undefined;
  readyTimeoutMs: number;
  readPid(): Promise<number>;
}

type StopOptions = Pick<ControlledPostgresCommand, 'pgCtl' | 'dataDirectory' | 'account'>;

/** The `pg_ctl` shutdown mode that equals each signal. */
const MODES: Partial<Record<NodeJS.Signals, string>> = { SIGINT: 'fast', SIGQUIT: 'immediate' };
const EXIT_POLL_MS = 500;
const KILL_WAIT_MS = 10_000;
const CONFIRM_WAIT_MS = 180_000;

/**
 * Starts PostgreSQL through `pg_ctl`. Resolves when the server accepts connections. The server is not a child process, so only its pid
 * shows whether it still runs.
 *
 * @throws ServerStartError with the end of the log if the server does not start
 */
export async function startThroughControl(
  command: ControlledPostgresCommand,
  system: OperatingSystem,
): Promise<RunningServer> {
  const { pgCtl, dataDirectory, logFile, account } = command;
  await keepPreviousLog(logFile);
  const log = await open(logFile, 'w', 0o600);
  await log.close();
  if (account) await chown(logFile, account.uid, account.gid);

  const seconds = String(Math.ceil(command.readyTimeoutMs / 1000));
  const options = command.args.map((arg) => `"${arg}"`).join(' ');
  const child = spawn(
    pgCtl,
    ['start', '-D', dataDirectory, '-l', logFile, '-o', options, '-w', '-t', seconds],
    {
      // No pipes: the server would inherit them and keep them open for as long as it runs.
      stdio: 'ignore',
      windowsHide: true,
      cwd: system.rootFolder,
      env: plainEnvironment(),
      ...(account ? { uid: account.uid, gid: account.gid } : {}),
    },
  );
  const [code] = (await once(child, 'exit')) as [number | null]; // Safe cast: the event's first argument
  if (code !== 0) {
    throw new ServerStartError(`${pgCtl} start failed with code ${code}.`, logFile, await readTail(logFile));
  }
  return new ControlledPostgres(await command.readPid(), command);
}

/** Runs the steps in order until the server ends. Returns whether it has ended. */
export async function stopThroughControl(
  pid: number,
  { pgCtl, dataDirectory, account }: StopOptions,
  steps: readonly StopStep[],
): Promise<boolean> {
  for (const { signal, waitMs } of steps) {
    const mode = MODES[signal];
    if (mode === undefined || !(await isRunning(pid))) continue;
    const seconds = String(Math.ceil(waitMs / 1000));
    const args = ['stop', '-D', dataDirectory, '-m', mode, '-w', '-t', seconds];
    await runCommand(pgCtl, args, { timeoutMs: waitMs + KILL_WAIT_MS, account });
  }
  return !(await isRunning(pid));
}

class ControlledPostgres implements RunningServer {
  readonly exited: Promise<ServerExit>;

  constructor(
    readonly pid: number,
    private readonly command: ControlledPostgresCommand,
  ) {
    this.exited = this.watch();
  }

  /** Only confirms that the server is ready, because `pg_ctl` has already waited for startup. */
  async waitUntilReady(isReady: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + CONFIRM_WAIT_MS;
    while (!(await isReady())) {
      if (!(await isRunning(this.pid))) throw await this.failure('exited during its start');
      if (performance.now() >= deadline)
        throw await this.failure(`started, but accepted no connection within ${CONFIRM_WAIT_MS / 1000} s`);
      await wait(EXIT_POLL_MS);
    }
  }

  async stop(steps: readonly StopStep[]): Promise<void> {
    if (await stopThroughControl(this.pid, this.command, steps)) return;
    process.kill(this.pid, 'SIGKILL');
    if (!(await waitForEnd(this.pid, KILL_WAIT_MS))) throw await this.failure('did not exit after SIGKILL');
  }

  private async watch(): Promise<ServerExit> {
    while (await isRunning(this.pid)) await wait(EXIT_POLL_MS, undefined, { ref: false });
    return { code: null, signal: null };
  }

  private async failure(what: string): Promise<ServerStartError> {
    const { logFile } = this.command;
    return new ServerStartError(`PostgreSQL ${what}.`, logFile, await readTail(logFile));
  }
}
