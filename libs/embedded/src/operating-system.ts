import { posix, win32 } from 'node:path';

/**
 * How systems differ, as far as the embedded servers are concerned. Everything that assumes a system is in this file; the others ask
 * for `currentSystem`.
 */
export interface OperatingSystem {
  /** A folder that every account can enter: the working directory of programs. */
  rootFolder: string;
  /** What the name of a program's file ends with. */
  programSuffix: '' | '.exe';
  /** Folders where package managers install programs. They are often not on the PATH of an ordinary user. */
  programFolders: readonly string[];
  /** Names of Python, which downloads nats-server when the system has no package of it. */
  pythonNames: readonly string[];
  /** Environment variables without which programs do not run, or do not reach the network. */
  programVariables: readonly string[];
  /**
   * Whether a signal asks a process to stop. On Windows, each signal kills: PostgreSQL stops through `pg_ctl` there, and nats-server
   * is killed, which it survives as it survives a crash (nats-io/nats-server#3809: it has no other way).
   */
  hasSignals: boolean;
  /**
   * Whether PostgreSQL must start through `pg_ctl`, which drops the rights of an administrator. Most Windows accounts have them, and
   * `postgres.exe` refuses to run with them.
   */
  startsPostgresThroughControl: boolean;
  /** Whether a folder can be opened, to flush the names in it to the disk. */
  canFlushFolders: boolean;
  /**
   * Whether a server writes its log file itself. On Windows, a child that inherits a file also inherits the console, and Ctrl-C would
   * stop the servers before the services that need them. This process writes the log of such a child.
   */
  inheritsLogFiles: boolean;
  /** Which program describes a process where there is no /proc. */
  processTool: ProcessTool;
}

/** A program that prints when a process started, and then its command line. */
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
    // `-ww`: do not cut long lines.
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
      // Sockets need the first two, Python and PostgreSQL the rest.
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

/** The facts about a system; by default this one. */
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

/** Start time and command line of a process, as `processTool` printed them. Undefined when it printed none. */
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
 * Whether a command line runs a program with an argument (one of our paths). The arguments are joined with spaces, in quotes where they
 * contain spaces. On Windows, names ignore case, and PostgreSQL writes paths with slashes.
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
