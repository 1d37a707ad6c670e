/** A load in a separate process, which `startLoadProcess` forks. */
export interface RunningLoad<Counts> {
  /** Returns the counts since the last call, or since the start. */
  takeCounts(): Counts;
  /** Stops sending requests. The process ends when the last response has arrived. */
  stop(): void;
}

/**
 * Runs a load in this process: starts the load with the options in the first message, then replies to each `count` message with the counts.
 */
export function runLoadProcess<Counts>(start: (options: never) => RunningLoad<Counts>): void {
  let load: RunningLoad<Counts> | undefined;
  process.on('message', (message: unknown) => {
    if (message === 'stop') {
      load?.stop();
      process.disconnect();
    } else if (message === 'count') {
      process.send?.(load?.takeCounts());
    } else {
      load = start(message as never); // Safe cast: the process that forks a module sends the options of its load
    }
  });
}
