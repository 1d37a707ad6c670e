import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { hasCode } from './error-code.js';
import { currentSystem, isCommandOf, parseProcess, type OperatingSystem } from './operating-system.js';
import { plainEnvironment, runCommand } from './run-command.js';

/** Identifies a process. A pid alone is not enough: after the process ends, another program may get the same pid. */
export interface ProcessIdentity {
  pid: number;
  /** The start time as the system prints it. It is only compared for equality. */
  startedAt: string;
}

const POLL_MS = 50;

/** Identifies the process with a pid. Returns undefined when no such process runs. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  if (!(await isRunning(pid))) return undefined;
  const stat = await readProcessFile(pid, 'stat');
  if (stat !== undefined) {
    const startTicks = statFields(stat)[19];
    if (startTicks === undefined) return undefined;
    // The start time counts ticks from the boot of the machine, so it is unique only together with the boot id. If the boot id
    // cannot be read, all identities of this machine lack it, so pid and start time must be enough.
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
    return { pid, startedAt: `${boot.trim()}:${startTicks}` };
  }
  const shown = await askProcessTool(pid);
  return shown && { pid, startedAt: shown.startedAt };
}

/** Whether the identified process still runs. Another process with the same pid does not count. */
export async function isSameProcess(identity: ProcessIdentity): Promise<boolean> {
  const current = await identifyProcess(identity.pid);
  return current?.startedAt === identity.startedAt;
}

/** Whether a process runs. A zombie counts as ended, because a zombie can stay forever in a container without an init process. */
export async function isRunning(pid: number): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process runs as another user.
    if (!hasCode(error, 'EPERM')) return false;
  }
  const stat = await readProcessFile(pid, 'stat');
  return stat === undefined || statFields(stat)[0] !== 'Z';
}

/** Whether the process is the given program and was started with this argument (one of our paths). */
export async function isProgram(pid: number, program: string, argument: string): Promise<boolean> {
  if (!(await isRunning(pid))) return false;
  const commandLine = await readProcessFile(pid, 'cmdline');
  if (commandLine !== undefined) {
    const [command, ...args] = commandLine.split('\0');
    return basename(command ?? '') === program && args.includes(argument);
  }
  const shown = await askProcessTool(pid);
  return shown !== undefined && isCommandOf(shown.commandLine, { program, argument }, currentSystem);
}

/** Runs the program that describes processes on systems without /proc. Undefined when no such process runs. */
export async function askProcessTool(
  pid: number,
  system: OperatingSystem = currentSystem,
): Promise<ReturnType<typeof parseProcess>> {
  const tool = system.processTool;
  // Without TZ, `ps` prints local times, and the start of a process would change when the computer travels to another time zone.
  const env = { ...plainEnvironment(), TZ: 'UTC' };
  const shown = await runCommand(tool.command, tool.argumentsFor(pid), { timeoutMs: tool.timeoutMs, env });
  return parseProcess(shown.stdout, system);
}

/** Waits until a process ends. Returns false when the process still runs after the timeout. */
export async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (await isRunning(pid)) {
    if (Date.now() >= deadline) return false;
    await wait(POLL_MS);
  }
  return true;
}

/**
 * Returns the fields of /proc/<pid>/stat (see proc(5)), starting with the state. The program name before the state can contain spaces and
 * parentheses.
 */
export function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function readProcessFile(pid: number, name: 'stat' | 'cmdline'): Promise<string | undefined> {
  // The system has no /proc, or the process has ended. In both cases, the caller asks the process tool.
  return readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => undefined);
}
