import { connect } from 'node:net';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { requestMaker, successStatus, type Credentials, type LoadKind } from './request-maker.js';

/** A load: connections, divided over ports of this machine, each with one request in flight. */
export interface LoadOptions extends Credentials {
  kind: LoadKind;
  ports: readonly number[];
  connections: number;
}

/** Responses since the last count. */
export interface LoadCounts {
  seconds: number;
  succeeded: number;
  /** Unexpected responses by status; broken connections count as `broken`. */
  failed: Record<string, number>;
  latencyMs: { p50: number; p99: number; max: number };
}

// `startLoad` forks this process. It generates the load and replies to each message with the counts since the last one.

class LoadGenerator {
  private latencies: RecordableHistogram = createHistogram();
  private succeeded = 0;
  private failed: Record<string, number> = {};
  private markedAt = performance.now();
  private isStopping = false;

  constructor(private readonly options: LoadOptions) {}

  start(): void {
    const { ports, connections, kind } = this.options;
    const make = requestMaker(kind, this.options);
    for (let index = 0; index < connections; index += 1) {
      this.runConnection(ports[index % ports.length] ?? 0, make, successStatus[kind]);
    }
  }

  stop(): void {
    this.isStopping = true;
  }

  takeCounts(): LoadCounts {
    const { latencies, succeeded, failed, markedAt } = this;
    this.latencies = createHistogram();
    this.succeeded = 0;
    this.failed = {};
    this.markedAt = performance.now();
    const milliseconds = (nanoseconds: number): number => nanoseconds / 1e6;
    return {
      seconds: (this.markedAt - markedAt) / 1_000,
      succeeded,
      failed,
      latencyMs: {
        p50: milliseconds(latencies.percentile(50)),
        p99: milliseconds(latencies.percentile(99)),
        max: milliseconds(latencies.max),
      },
    };
  }

  private runConnection(port: number, make: () => string, expected: string): void {
    let sentAt = 0;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const send = (): void => {
      if (this.isStopping) {
        socket.end();
        return;
      }
      const request = make();
      sentAt = performance.now();
      socket.write(request, 'latin1');
    };
    socket.once('connect', send);
    // Responses are small and arrive one at a time, so one chunk is one response.
    socket.on('data', (chunk) => {
      this.latencies.record(Math.max(1, Math.round((performance.now() - sentAt) * 1e6)));
      const status = chunk.toString('latin1', 9, 12);
      if (status === expected) this.succeeded += 1;
      else this.noteFailure(status);
      send();
    });
    socket.once('error', () => this.noteFailure('broken'));
  }

  private noteFailure(what: string): void {
    this.failed[what] = (this.failed[what] ?? 0) + 1;
  }
}

let generator: LoadGenerator | undefined;

process.on('message', (message: LoadOptions | 'count' | 'stop') => {
  if (message === 'stop') {
    generator?.stop();
    process.disconnect();
  } else if (message === 'count') {
    process.send?.(generator?.takeCounts());
  } else {
    generator = new LoadGenerator(message);
    generator.start();
  }
});
