import { connect } from 'node:net';
import { runLoadProcess, type RunningLoad } from './load-process.js';
import {
  requestMaker,
  successStatus,
  type Credentials,
  type LoadKind,
  type LoadPopulation,
} from './request-maker.js';
import { ResponseCounter, type LoadCounts } from './response-counter.js';

/** A load of connections with one request in flight each, spread over local ports. */
export interface LoadOptions extends Credentials {
  kind: LoadKind;
  ports: readonly number[];
  connections: number;
  /** Default: one channel with 5,000 viewers. */
  population?: LoadPopulation | undefined;
}

// `startLoad` forks this module.

class LoadGenerator implements RunningLoad<LoadCounts> {
  private readonly counter = new ResponseCounter();
  private isStopping = false;

  constructor(private readonly options: LoadOptions) {}

  start(): this {
    const { ports, connections, kind } = this.options;
    const make = requestMaker(kind, this.options, this.options.population);
    for (let index = 0; index < connections; index += 1) {
      this.runConnection(ports[index % ports.length] ?? 0, make, successStatus[kind]);
    }
    return this;
  }

  stop(): void {
    this.isStopping = true;
  }

  takeCounts(): LoadCounts {
    return this.counter.take();
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
    // Responses are small and arrive one at a time, so each chunk is one response.
    socket.on('data', (chunk) => {
      this.counter.noteLatency(performance.now() - sentAt);
      const status = chunk.toString('latin1', 9, 12);
      if (status === expected) this.counter.noteSuccess();
      else this.counter.noteFailure(status);
      send();
    });
    socket.once('error', () => {
      this.counter.noteFailure('broken');
    });
  }
}

runLoadProcess((options: LoadOptions) => new LoadGenerator(options).start());
