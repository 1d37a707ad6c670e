import { HttpConnection } from './http-connection.js';
import type { HttpResponse } from './response-reader.js';

/** The options of an open loop. */
export interface OpenLoopPlan<Request> {
  ports: readonly number[];
  perSecond: number;
  /** The maximum number of requests in flight. Further requests that are due wait for a connection. */
  connections: number;
  make: () => { text: string; request: Request };
  /** Called with each response. `latencyMs` counts from the time when the request was due. */
  onResponse: (response: HttpResponse, request: Request, latencyMs: number) => void;
  onFailure: (error: Error) => void;
}

// Node's timers are not more precise than this.
const tickMs = 1;

/**
 * Sends requests at a fixed rate, whether or not earlier requests have got a response, as a platform does. A closed loop would send less
 * while the service stalls, and would not count the waiting time of the requests that it did not send.
 */
export class OpenLoop<Request> {
  private readonly idle: HttpConnection[];
  private readonly all: readonly HttpConnection[];
  /** The due times of the requests that wait for a connection, oldest first. */
  private waiting: number[] = [];
  private sent = 0;
  private startedAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private lateMs = 0;

  constructor(private readonly plan: OpenLoopPlan<Request>) {
    const { ports, connections } = plan;
    this.all = Array.from(
      { length: connections },
      (_, index) => new HttpConnection(ports[index % ports.length] ?? 0),
    );
    this.idle = [...this.all];
  }

  start(): void {
    this.startedAt = performance.now();
    this.timer = setInterval(() => {
      this.sendDue();
    }, tickMs);
  }

  /** Stops sending requests. Each connection closes after the response to its last request. */
  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.waiting = [];
    for (const connection of this.idle) connection.close();
  }

  /** The number of requests that are due and wait for a connection. */
  get backlog(): number {
    return this.waiting.length;
  }

  /** Returns the longest time since the last call that a request waited for this process or for a connection. */
  takeLongestWait(): number {
    const { lateMs } = this;
    this.lateMs = 0;
    return lateMs;
  }

  private sendDue(): void {
    const { perSecond } = this.plan;
    const due = Math.floor(((performance.now() - this.startedAt) / 1_000) * perSecond);
    for (; this.sent < due; this.sent += 1)
      this.waiting.push(this.startedAt + ((this.sent + 1) / perSecond) * 1_000);
    let count = 0;
    for (; count < this.waiting.length && this.idle.length > 0; count += 1) this.send(this.waiting[count]);
    if (count > 0) this.waiting = this.waiting.slice(count);
  }

  private send(dueAt = 0): void {
    const connection = this.idle.pop();
    if (!connection) return;
    const { make, onResponse, onFailure } = this.plan;
    const { text, request } = make();
    this.lateMs = Math.max(this.lateMs, performance.now() - dueAt);
    void connection
      .request(text)
      .then(
        (response) => {
          onResponse(response, request, performance.now() - dueAt);
        },
        (error: unknown) => {
          onFailure(error instanceof Error ? error : new Error(String(error)));
        },
      )
      .finally(() => {
        this.release(connection);
      });
  }

  private release(connection: HttpConnection): void {
    if (this.timer === undefined) {
      connection.close();
      return;
    }
    this.idle.push(connection);
    const dueAt = this.waiting.shift();
    if (dueAt !== undefined) this.send(dueAt);
  }
}
