import { execFile } from 'node:child_process';

/** Takes one line of progress meant for the person who started the program. */
export type Log = (message: string) => void;

/** A user of this machine as whom a program is run. */
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
}

export interface CommandResult {
  succeeded: boolean;
  stdout: string;
  /** Everything it printed, or why it could not be run: for error messages. */
  output: string;
}

/** Runs a program to its end. A failure of any kind is a result, not an exception. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  const { account } = options;
  return new Promise((resolve) => {
    execFile(
      command,
      args,
      {
        // The current folder may be closed to the other user, and initdb refuses to run without one.
        cwd: options.cwd ?? '/',
        env: options.env ?? plainEnvironment(),
        timeout: options.timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: 16 * 1024 * 1024,
        ...(account ? { uid: account.uid, gid: account.gid } : {}),
      },
      (error, stdout, stderr) => {
        const printed = `${stdout}${stderr}`.trim();
        resolve({ succeeded: error === null, stdout, output: printed || (error?.message ?? '') });
      },
    );
  });
}

/**
 * The environment for servers and tools: ours may hold secrets, and variables such as PGPORT or PGOPTIONS
 * would change what PostgreSQL does.
 */
export function plainEnvironment(): Record<string, string> {
  const environment: Record<string, string> = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' };
  for (const name of ['HOME', 'TMPDIR', 'http_proxy', 'https_proxy', 'no_proxy']) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
