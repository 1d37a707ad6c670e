import { execFile } from 'node:child_process';
import { currentSystem } from './operating-system.js';

/** Prints a line of progress for the operator. */
export type Log = (message: string) => void;

/** A user account that programs run as. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
}

export interface CommandOptions {
  timeoutMs: number;
  /** Runs the program as this user. Needs root. */
  account?: Account | undefined;
  cwd?: string;
  env?: Record<string, string>;
  /** Written to standard input. */
  input?: string;
}

export interface CommandResult {
  succeeded: boolean;
  stdout: string;
  /** Standard output and standard error, or why the program did not run. For error messages only. */
  output: string;
}

/** Runs a program until it exits. Never throws; returns failures as results. */
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
        // initdb needs a working directory that it can enter, and the account may be unable to enter the current one.
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
    // Writing fails if the program has already exited. The exit code reports the failure.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input);
  });
}

/**
 * A minimal environment for servers and tools. This process's variables can contain secrets. Some, such as PGPORT and PGOPTIONS, would
 * change PostgreSQL's behavior.
 */
export function plainEnvironment(): Record<string, string> {
  const environment: Record<string, string> = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' };
  for (const name of currentSystem.programVariables) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
