import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { hasCode } from './error-code.js';
import { currentSystem, isCommandOf, parseProcess, type OperatingSystem } from './operating-system.js';
import { plainEnvironment, runCommand } from './run-command.js';

/** Identifies a process. A pid alone is not enough, because the system reuses pids. */
export interface ProcessIdentity {
  pid: number;
  /** Start time as the system prints it. Use it only to compare. */
  startedAt: string;
}

const POLL_MS = 50;

/** Returns undefined if no such process runs. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  if (!(await isRunning(pid))) return undefined;
  const stat = await readProcessFile(pid, 'stat');
  if (stat !== undefined) {
    const startTicks = statFields(stat)[19];
    if (startTicks === undefined) return undefined;
    // Start times count ticks since boot, so they are unique only together with the boot id. If the boot id is unreadable, every identity
    // on this machine lacks it, and the comparison still works.
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
    return { pid, startedAt: `${boot.trim()}:${startTicks}` };
  }
  const shown = await askProcessTool(pid);
  return shown && { pid, startedAt: shown.startedAt };
}

/** Returns false if another process has the pid now. */
export async function isSameProcess(identity: ProcessIdentity): Promise<boolean> {
  const current = await identifyProcess(identity.pid);
  return current?.startedAt === identity.startedAt;
}

/** Whether a process runs. Zombies count as ended: in a container without an init process, they never go away. */
export async function isRunning(pid: number): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    if (!hasCode(error, 'EPERM')) return false;
  }
  const stat = await readProcessFile(pid, 'stat');
  return stat === undefined || statFields(stat)[0] !== 'Z';
}

/** Whether the process runs this program with this argument, which is one of our paths. */
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

/** Asks the process tool, for systems without /proc. Returns undefined if no such process runs. */
export async function askProcessTool(
  pid: number,
  system: OperatingSystem = currentSystem,
): Promise<ReturnType<typeof parseProcess>> {
  const tool = system.processTool;
  // Fix the time zone: `ps` prints local time, so a laptop that changes zones would see different start times.
  const env = { ...plainEnvironment(), TZ: 'UTC' };
  const shown = await runCommand(tool.command, tool.argumentsFor(pid), { timeoutMs: tool.timeoutMs, env });
  return parseProcess(shown.stdout, system);
}

/** Returns false if the process still runs after the timeout. */
export async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (await isRunning(pid)) {
    if (Date.now() >= deadline) return false;
    await wait(POLL_MS);
  }
  return true;
}

/**
 * Splits /proc/<pid>/stat, starting at the state (see proc(5)). Skips the program name before it, which can contain spaces and parentheses.
 */
export function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function readProcessFile(pid: number, name: 'stat' | 'cmdline'): Promise<string | undefined> {
  // No /proc, or the process has ended. All callers except `isRunning` ask the process tool next.
  return readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => undefined);
}
