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

/** Runs a program until it exits. Any failure is a result, not an exception. */
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
        // The other user may not be able to enter the current folder, and initdb needs a folder that it can enter.
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
    // A program that ends early reads no input. Its exit code says why it ended.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input);
  });
}

/**
 * The environment for servers and tools. Ours may hold secrets, and variables such as PGPORT or PGOPTIONS would change how
 * PostgreSQL behaves.
 */
export function plainEnvironment(): Record<string, string> {
  const environment: Record<string, string> = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' };
  for (const name of currentSystem.programVariables) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
