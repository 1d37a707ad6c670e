import { readdirSync, readFileSync } from 'node:fs';

// proc(5) counts in clock ticks: 100 per second on every Linux that Node supports.
const ticksPerSecond = 100;

/** CPU seconds used by a process. */
export function cpuSeconds(pid: number): number {
  const { utime, stime } = readStat(pid);
  return (utime + stime) / ticksPerSecond;
}

/** CPU seconds used by a process and its children, including exited ones. For PostgreSQL. */
export function cpuSecondsOfFamily(pid: number): number {
  const { utime, stime, endedChildren } = readStat(pid);
  const ofChild = (child: number): number => {
    try {
      return cpuSeconds(child);
    } catch {
      return 0; // just exited; the next call counts it with the exited children
    }
  };
  const children = childrenOf(pid).reduce((sum, child) => sum + ofChild(child), 0);
  return (utime + stime + endedChildren) / ticksPerSecond + children;
}

/** Private memory in MiB, without memory that other processes share. */
export function memoryMegabytes(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kilobytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? 0);
  return (kilobytes('Private_Clean') + kilobytes('Private_Dirty')) / 1024;
}

/** Pids of the running children. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => {
      try {
        return readStat(candidate).parent === pid;
      } catch {
        return false; // just exited
      }
    });
}

function readStat(pid: number): { parent: number; utime: number; stime: number; endedChildren: number } {
  // The program name in parentheses can contain anything, so search for the last parenthesis.
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
