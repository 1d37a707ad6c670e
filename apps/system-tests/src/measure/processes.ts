import { readdirSync, readFileSync } from 'node:fs';

// The clock ticks of proc(5): 100 per second on every Linux system that Node supports.
const ticksPerSecond = 100;

/** Returns the seconds of CPU that a process has used. */
export function cpuSeconds(pid: number): number {
  const { utime, stime } = readStat(pid);
  return (utime + stime) / ticksPerSecond;
}

/** Returns the seconds of CPU that a process and its children, including exited children, have used. For PostgreSQL. */
export function cpuSecondsOfFamily(pid: number): number {
  const { utime, stime, endedChildren } = readStat(pid);
  const ofChild = (child: number): number => {
    try {
      return cpuSeconds(child);
    } catch {
      return 0; // it exited in the meantime; the next call counts it with the exited children
    }
  };
  const children = childrenOf(pid).reduce((sum, child) => sum + ofChild(child), 0);
  return (utime + stime + endedChildren) / ticksPerSecond + children;
}

/** Returns the private memory of a process in MiB, without memory that other processes share. */
export function memoryMegabytes(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kilobytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? 0);
  return (kilobytes('Private_Clean') + kilobytes('Private_Dirty')) / 1024;
}

/** Returns the private memory of a process and its children in MiB. */
export function memoryMegabytesOfFamily(pid: number): number {
  const ofChild = (child: number): number => {
    try {
      return memoryMegabytes(child);
    } catch {
      return 0; // it exited in the meantime, as workers of PostgreSQL do
    }
  };
  return childrenOf(pid).reduce((sum, child) => sum + ofChild(child), memoryMegabytes(pid));
}

/** Returns the process ids of the running children of a process. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => {
      try {
        return readStat(candidate).parent === pid;
      } catch {
        return false; // it exited in the meantime
      }
    });
}

function readStat(pid: number): { parent: number; utime: number; stime: number; endedChildren: number } {
  // The name in parentheses may contain anything; the numbers follow the last parenthesis.
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
