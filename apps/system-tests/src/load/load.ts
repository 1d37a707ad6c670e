import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadCounts, LoadOptions } from './load-generator.js';

/** A load that is running, in a process of its own. */
export interface Load {
  pid: number;
  /** What was answered since this was asked last (or since the start). */
  takeCounts(): Promise<LoadCounts>;
  /** Lets every request in flight get its answer, then ends. */
  stop(): Promise<void>;
}

export function startLoad(options: LoadOptions): Load {
  const child = fork(fileURLToPath(new URL('load-generator.js', import.meta.url)));
  if (child.pid === undefined) throw new Error('the load generator could not be started');
  child.send(options);
  return {
    pid: child.pid,
    takeCounts: async () => {
      child.send('count');
      const [counts] = (await once(child, 'message')) as [LoadCounts]; // holds: it answers with nothing else
      return counts;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.send('stop');
      await ended;
    },
  };
}
