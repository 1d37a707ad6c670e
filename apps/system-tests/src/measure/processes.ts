import { readdirSync, readFileSync } from 'node:fs';

// What proc(5) calls a clock tick; 100 a second on every Linux that Node runs on.
const ticksPerSecond = 100;

/** Seconds of CPU that a process has used so far. */
export function cpuSeconds(pid: number): number {
  const { utime, stime } = readStat(pid);
  return (utime + stime) / ticksPerSecond;
}

/** Seconds of CPU that a process and its children, ended ones too, have used so far: for PostgreSQL. */
export function cpuSecondsOfFamily(pid: number): number {
  const { utime, stime, endedChildren } = readStat(pid);
  const ofChild = (child: number): number => {
    try {
      return cpuSeconds(child);
    } catch {
      return 0; // it has ended meanwhile, and is counted with the ended ones next time
    }
  };
  const children = childrenOf(pid).reduce((sum, child) => sum + ofChild(child), 0);
  return (utime + stime + endedChildren) / ticksPerSecond + children;
}

/** Memory of a process that is its own, in MiB: what it shares with others is not counted. */
export function memoryMegabytes(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kilobytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? 0);
  return (kilobytes('Private_Clean') + kilobytes('Private_Dirty')) / 1024;
}

/** The same of a process and its children. */
export function memoryMegabytesOfFamily(pid: number): number {
  const ofChild = (child: number): number => {
    try {
      return memoryMegabytes(child);
    } catch {
      return 0; // it has ended meanwhile: workers of PostgreSQL come and go
    }
  };
  return childrenOf(pid).reduce((sum, child) => sum + ofChild(child), memoryMegabytes(pid));
}

/** The processes that a process has started and that run. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => {
      try {
        return readStat(candidate).parent === pid;
      } catch {
        return false; // it has ended meanwhile
      }
    });
}

function readStat(pid: number): { parent: number; utime: number; stime: number; endedChildren: number } {
  // The name, in brackets, may hold anything: the numbers come after the last bracket.
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0, utime = 0, stime = 0, cutime = 0, cstime = 0] = [1, 11, 12, 13, 14].map(
    (at) => fields[at],
  );
  return { parent, utime, stime, endedChildren: cutime + cstime };
}
