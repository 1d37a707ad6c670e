/** A load that runs in its own process. `startLoadProcess` forks it. */
export interface RunningLoad<Counts> {
  /** Counts since the last call, or since the start. */
  takeCounts(): Counts;
  /** Stops sending. The process exits after the last response. */
  stop(): void;
}

/**
 * Main function of a load process. The first message contains the load's options. Each later `count` message gets the counts as its reply.
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
      load = start(message as never); // Safe cast: the parent process sends this load's options
    }
  });
}
