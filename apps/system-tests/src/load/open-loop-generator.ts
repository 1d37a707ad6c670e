import { runLoadProcess, type RunningLoad } from './load-process.js';
import { OpenLoop } from './open-loop.js';
import type { LoadOptions } from './load-generator.js';
import { requestMaker, successStatus } from './request-maker.js';
import { ResponseCounter, type LoadCounts } from './response-counter.js';

/** A load at a fixed rate. `connections` limits the requests in flight. */
export interface OpenLoopOptions extends LoadOptions {
  perSecond: number;
}

/** Responses since the last count. Latencies start at the time when the request was due. */
export interface OpenLoopCounts extends LoadCounts {
  /** Due requests that wait for a connection. */
  backlog: number;
  /** Longest time that a due request waited for the generator or a connection. */
  longestWaitMs: number;
}

// `startOpenLoop` forks this module.

class OpenLoopGenerator implements RunningLoad<OpenLoopCounts> {
  private readonly counter = new ResponseCounter();
  private readonly loop: OpenLoop<undefined>;

  constructor({ kind, ports, connections, perSecond, population, ...credentials }: OpenLoopOptions) {
    const make = requestMaker(kind, credentials, population);
    const expected = Number(successStatus[kind]);
    this.loop = new OpenLoop({
      ports,
      connections,
      perSecond,
      make: () => ({ text: make(), request: undefined }),
      onResponse: ({ status }, _request, latencyMs) => {
        this.counter.noteLatency(latencyMs);
        if (status === expected) this.counter.noteSuccess();
        else this.counter.noteFailure(String(status));
      },
      onFailure: () => {
        this.counter.noteFailure('broken');
      },
    });
  }

  start(): this {
    this.loop.start();
    return this;
  }

  stop(): void {
    this.loop.stop();
  }

  takeCounts(): OpenLoopCounts {
    const { backlog } = this.loop;
    return { ...this.counter.take(), backlog, longestWaitMs: this.loop.takeLongestWait() };
  }
}

runLoadProcess((options: OpenLoopOptions) => new OpenLoopGenerator(options).start());
