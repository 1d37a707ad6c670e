import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadOptions } from './load-generator.js';
import type { OpenLoopCounts, OpenLoopOptions } from './open-loop-generator.js';
import type { LoadCounts } from './response-counter.js';

/** A running load, in its own process. */
export interface Load<Counts = LoadCounts> {
  pid: number;
  /** Responses since the last call, or since the start. */
  takeCounts(): Promise<Counts>;
  /** Waits for all requests in flight, then ends the load. */
  stop(): Promise<void>;
}

/** Starts a closed loop: each connection sends a request when it has the response to the last one. */
export function startLoad(options: LoadOptions): Load {
  return startLoadProcess(new URL('load-generator.js', import.meta.url), options);
}

/** Starts an open loop: requests are due at fixed times, whether or not earlier ones were answered. */
export function startOpenLoop(options: OpenLoopOptions): Load<OpenLoopCounts> {
  return startLoadProcess(new URL('open-loop-generator.js', import.meta.url), options);
}

/** Forks a module that calls `runLoadProcess`, and starts its load. */
export function startLoadProcess<Counts>(module: URL, options: object): Load<Counts> {
  const child = fork(fileURLToPath(module));
  if (child.pid === undefined) throw new Error(`cannot start ${module.pathname}`);
  child.send(options);
  return {
    pid: child.pid,
    takeCounts: async () => {
      child.send('count');
      const [counts] = (await once(child, 'message')) as [Counts]; // holds: it sends nothing else
      return counts;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.send('stop');
      await ended;
    },
  };
}
