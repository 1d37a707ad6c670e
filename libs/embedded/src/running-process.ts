import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { hasCode } from './error-code.js';
import { runCommand } from './run-command.js';

/** Identifies a process. A pid alone does not: after the process ends, another program may get it. */
export interface ProcessIdentity {
  pid: number;
  /** Start time as the system prints it; compared only for equality. */
  startedAt: string;
}

const POLL_MS = 50;
const PS_TIMEOUT_MS = 5_000;

/** Undefined when no such process runs. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  if (!(await isRunning(pid))) return undefined;
  const stat = await readProcessFile(pid, 'stat');
  if (stat !== undefined) {
    const startTicks = statFields(stat)[19];
    if (startTicks === undefined) return undefined;
    // Ticks count from the boot of the machine, so they are unique only together with the boot id.
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
    return { pid, startedAt: `${boot.trim()}:${startTicks}` };
  }
  const shown = await runCommand('ps', ['-o', 'lstart=', '-p', String(pid)], { timeoutMs: PS_TIMEOUT_MS });
  const startedAt = shown.stdout.trim();
  return startedAt === '' ? undefined : { pid, startedAt };
}

/** Whether this process still runs, as opposed to another one with the same pid. */
export async function isSameProcess(identity: ProcessIdentity): Promise<boolean> {
  const current = await identifyProcess(identity.pid);
  return current?.startedAt === identity.startedAt;
}

/** A zombie counts as ended: in a container without an init process it may stay forever. */
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
  const shown = await runCommand('ps', ['-ww', '-o', 'command=', '-p', String(pid)], {
    timeoutMs: PS_TIMEOUT_MS,
  });
  // ps joins the arguments with spaces, and our path may contain spaces.
  const line = ` ${shown.stdout.trim()} `;
  return line.includes(` ${argument} `) && line.includes(`/${program} `);
}

/** Waits until a process ends. False when it still runs after the timeout. */
export async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (await isRunning(pid)) {
    if (Date.now() >= deadline) return false;
    await wait(POLL_MS);
  }
  return true;
}

/** The fields of /proc/<pid>/stat (see proc(5)) from the state on. The name before it may contain spaces and brackets. */
export function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function readProcessFile(pid: number, name: 'stat' | 'cmdline'): Promise<string | undefined> {
  return readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => undefined);
}
