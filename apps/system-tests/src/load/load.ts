import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadOptions } from './load-generator.js';
import type { LoadCounts } from './response-counter.js';

/** A load that runs in its own process. */
export interface Load<Counts = LoadCounts> {
  pid: number;
  /** Counts since the last call, or since the start. */
  takeCounts(): Promise<Counts>;
  /** Stops sending, waits for pending requests, and ends the process. */
  stop(): Promise<void>;
}

/** Starts a closed loop: each connection sends its next request after the previous response. */
export function startLoad(options: LoadOptions): Load {
  return startLoadProcess(new URL('load-generator.js', import.meta.url), options);
}

/** Starts an open loop: requests are due at fixed times, even if earlier responses are late. */
export function startOpenLoop(options: LoadOptions & { perSecond: number }): Load {
  return startLoad(options);
}

/** Forks a module that calls `runLoadProcess`, and sends it the options. */
export function startLoadProcess<Counts>(module: URL, options: object): Load<Counts> {
  const child = fork(fileURLToPath(module));
  if (child.pid === undefined) throw new Error(`cannot start ${module.pathname}`);
  child.send(options);
  return {
    pid: child.pid,
    takeCounts: async () => {
      child.send('count');
      const [counts] = (await once(child, 'message')) as [Counts]; // Safe cast: the load sends nothing else
      return counts;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.send('stop');
      await ended;
    },
  };
}
