import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadCounts, LoadOptions } from './load-generator.js';

/** A running load, in its own process. */
export interface Load {
  pid: number;
  /** Responses since the last call, or since the start. */
  takeCounts(): Promise<LoadCounts>;
  /** Waits for all requests in flight, then ends the load. */
  stop(): Promise<void>;
}

export function startLoad(options: LoadOptions): Load {
  const child = fork(fileURLToPath(new URL('load-generator.js', import.meta.url)));
  if (child.pid === undefined) throw new Error('cannot start the load generator');
  child.send(options);
  return {
    pid: child.pid,
    takeCounts: async () => {
      child.send('count');
      const [counts] = (await once(child, 'message')) as [LoadCounts]; // holds: it sends nothing else
      return counts;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.send('stop');
      await ended;
    },
  };
}
