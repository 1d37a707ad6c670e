import { HttpConnection } from './http-connection.js';
import type { HttpResponse } from './response-reader.js';

export interface OpenLoopPlan<Request> {
  ports: readonly number[];
  perSecond: number;
  /** Limits the requests in flight. Further due requests wait for a connection. */
  connections: number;
  make: () => { text: string; request: Request };
  /** `latencyMs` starts at the time when the request was due. */
  onResponse: (response: HttpResponse, request: Request, latencyMs: number) => void;
  onFailure: (error: Error) => void;
}

// Interval of the timer that sends due requests. Node's timers are not more precise.
const tickMs = 1;

/**
 * Sends requests at a fixed rate even if responses are late, as a platform does. A closed loop would hide stalls: it sends less while the
 * service is slow, and does not count the waiting time of unsent requests.
 */
export class OpenLoop<Request> {
  private readonly idle: HttpConnection[];
  private readonly all: readonly HttpConnection[];
  /** Due times of waiting requests, oldest first. */
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

  /** Stops sending. Each connection closes after its last response. */
  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.waiting = [];
    for (const connection of this.idle) connection.close();
  }

  /** Due requests that wait for a connection. */
  get backlog(): number {
    return this.waiting.length;
  }

  /** Longest time that a due request waited for this process or a connection. Counts since the last call. */
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
