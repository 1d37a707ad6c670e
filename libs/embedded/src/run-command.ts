import { execFile } from 'node:child_process';
import { currentSystem } from './operating-system.js';

/** Prints one line of progress for the person who started the program. */
export type Log = (message: string) => void;

/** A user of this machine that runs a program. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
}

export interface CommandOptions {
  timeoutMs: number;
  /** Only root can run a program as another user. */
  account?: Account | undefined;
  cwd?: string;
  env?: Record<string, string>;
  /** What the program reads from standard input. */
  input?: string;
}

export interface CommandResult {
  succeeded: boolean;
  stdout: string;
  /** Standard output and standard error, or why the program did not run; for error messages. */
  output: string;
}

/** Runs a program until it exits. Returns every failure as a result, and never throws. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  const { account } = options;
  return new Promise((resolve) => {
    const child = execFile(
      command,
      args,
      {
        // The account may be unable to enter the current folder, and initdb needs a working directory that it can enter.
        cwd: options.cwd ?? currentSystem.rootFolder,
        env: options.env ?? plainEnvironment(),
        timeout: options.timeoutMs,
        killSignal: 'SIGKILL',
        windowsHide: true,
        maxBuffer: 16 * 1024 * 1024,
        ...(account ? { uid: account.uid, gid: account.gid } : {}),
      },
      (error, stdout, stderr) => {
        const printed = `${stdout}${stderr}`.trim();
        resolve({ succeeded: error === null, stdout, output: printed || (error?.message ?? '') });
      },
    );
    // Writing to a program that has ended early fails. Ignore this error, because the exit code already reports the failure.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input);
  });
}

/**
 * Returns the environment for servers and tools. The environment of this process can contain secrets, and variables such as
 * PGPORT or PGOPTIONS would change how PostgreSQL behaves.
 */
export function plainEnvironment(): Record<string, string> {
  const environment: Record<string, string> = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' };
  for (const name of currentSystem.programVariables) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
