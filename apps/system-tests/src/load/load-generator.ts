import { setTimeout as wait } from 'node:timers/promises';
import { HttpConnection } from './http-connection.js';
import { runLoadProcess, type RunningLoad } from './load-process.js';
import { requestMaker, successStatus, type LoadRequests, type RequestMaker } from './request-maker.js';
import { ResponseCounter, type LoadCounts } from './response-counter.js';

/** A load of connections with at most one request in flight each, spread over local ports. */
export interface LoadOptions extends LoadRequests {
  ports: readonly number[];
  connections: number;
  /** Requests due per second. Default: each connection sends its next request after the previous response. */
  perSecond?: number;
}

// Interval of the timer that sends due requests. Node's timers are not more precise.
const tickMs = 1;
// Pause after a broken connection.
const retryMs = 100;

// `startLoad` forks this module.

/**
 * A closed loop, or with `perSecond` an open loop, which sends requests at a fixed rate even if responses are late, as a platform does. A
 * closed loop hides stalls: it sends less while the service is slow, and does not count the waiting time of unsent requests.
 */
class LoadGenerator implements RunningLoad<LoadCounts> {
  private readonly counter = new ResponseCounter();
  private readonly make: RequestMaker;
  private readonly expected: number;
  private readonly idle: HttpConnection[];
  /** Due times of requests that wait for a connection, oldest first. */
  private waiting: number[] = [];
  private dueCount = 0;
  private timer: NodeJS.Timeout | undefined;
  private isStopping = false;

  constructor(private readonly options: LoadOptions) {
    const { ports, connections, kind } = options;
    this.make = requestMaker(options);
    this.expected = successStatus[kind];
    this.idle = Array.from(
      { length: connections },
      (_, index) => new HttpConnection(ports[index % ports.length] ?? 0),
    );
  }

  start(): this {
    const { perSecond } = this.options;
    const startedAt = performance.now();
    if (perSecond === undefined)
      for (const connection of this.idle.splice(0)) void this.send(connection, startedAt);
    else this.timer = setInterval(() => this.sendDue(startedAt, perSecond), tickMs);
    return this;
  }

  stop(): void {
    this.isStopping = true;
    clearInterval(this.timer);
    for (const connection of this.idle) connection.close();
  }

  takeCounts(): LoadCounts {
    return this.counter.take(this.waiting.length);
  }

  private sendDue(startedAt: number, perSecond: number): void {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond);
    for (; this.dueCount < due; this.dueCount += 1)
      this.waiting.push(startedAt + ((this.dueCount + 1) / perSecond) * 1_000);
    for (const dueAt of this.waiting.splice(0, this.idle.length)) {
      const connection = this.idle.pop();
      if (connection) void this.send(connection, dueAt);
    }
  }

  /** The latency counts from the time when the request was due. */
  private async send(connection: HttpConnection, dueAt: number): Promise<void> {
    try {
      const { status } = await connection.request(this.make());
      this.counter.noteLatency(performance.now() - dueAt);
      if (status === this.expected) this.counter.noteSuccess();
      else this.counter.noteFailure(String(status));
    } catch {
      this.counter.noteFailure('broken');
      await wait(retryMs);
    }
    this.release(connection);
  }

  private release(connection: HttpConnection): void {
    const dueAt = this.options.perSecond === undefined ? performance.now() : this.waiting.shift();
    if (this.isStopping) connection.close();
    else if (dueAt === undefined) this.idle.push(connection);
    else void this.send(connection, dueAt);
  }
}

runLoadProcess((options: LoadOptions) => new LoadGenerator(options).start());
