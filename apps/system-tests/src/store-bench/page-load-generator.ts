import { setTimeout as wait } from 'node:timers/promises';
import { isJsonObject } from '@stream-events/contracts';
import { HttpConnection } from '../load/http-connection.js';
import { runLoadProcess, type RunningLoad } from '../load/load-process.js';
import { OpenLoop } from '../load/open-loop.js';
import { ResponseCounter, type LoadCounts } from '../load/response-counter.js';
import { AcknowledgedEvents, findMissing } from './acknowledged-events.js';
import { makeArrivingEvent, type ArrivingEvent } from './arriving-events.js';
import { commonQueries, pathOf, printGet } from './list-query.js';
import type { Population } from './population.js';

/** Connections that read first pages of different queries, while events arrive at a fixed rate. */
export interface PageLoadOptions {
  port: number;
  token: string;
  connections: number;
  arrivalsPerSecond: number;
  population: Population;
}

/** Counts since the last call. */
export interface PageLoadCounts {
  pages: LoadCounts;
  arrivals: LoadCounts;
  /** Pages for which at least one acknowledged event matched. */
  checked: number;
  /** Pages that lack an event that was acknowledged before the request. */
  outdated: number;
}

const arrivalConnections = 64;
const retryMs = 100;

class PageLoad implements RunningLoad<PageLoadCounts> {
  private readonly pages = new ResponseCounter();
  private readonly arrivals = new ResponseCounter();
  private readonly requests: readonly string[];
  private readonly acknowledged: AcknowledgedEvents;
  private readonly arriving: OpenLoop<ArrivingEvent>;
  private turn = 0;
  private checked = 0;
  private outdated = 0;
  private isStopping = false;

  constructor(private readonly options: PageLoadOptions) {
    const { port, token, arrivalsPerSecond, population } = options;
    const queries = commonQueries(population);
    this.requests = queries.map((query) => printGet(pathOf(query), token));
    this.acknowledged = new AcknowledgedEvents(queries);
    this.arriving = new OpenLoop({
      ports: [port],
      perSecond: arrivalsPerSecond,
      connections: arrivalConnections,
      make: () => {
        const event = makeArrivingEvent(population);
        return { text: printPost(event.body, token), request: event };
      },
      onResponse: ({ status, body }, event, latencyMs) => {
        this.arrivals.noteLatency(latencyMs);
        const record: unknown = status === 201 ? JSON.parse(body.toString()) : undefined;
        if (!isJsonObject(record) || typeof record.id !== 'string') {
          this.arrivals.noteFailure(String(status));
          return;
        }
        this.arrivals.noteSuccess();
        this.acknowledged.note(record.id, event.fields);
      },
      onFailure: () => {
        this.arrivals.noteFailure('broken');
      },
    });
  }

  start(): this {
    this.arriving.start();
    for (let index = 0; index < this.options.connections; index += 1) void this.read();
    return this;
  }

  stop(): void {
    this.isStopping = true;
    this.arriving.stop();
  }

  takeCounts(): PageLoadCounts {
    const { checked, outdated } = this;
    this.checked = 0;
    this.outdated = 0;
    return { pages: this.pages.take(), arrivals: this.arrivals.take(), checked, outdated };
  }

  private async read(): Promise<void> {
    const connection = new HttpConnection(this.options.port);
    while (!this.isStopping) {
      const index = this.turn++ % this.requests.length;
      const expected = this.acknowledged.expectedOn(index);
      const sentAt = performance.now();
      try {
        const { status, body } = await connection.request(this.requests[index] ?? '');
        this.pages.noteLatency(performance.now() - sentAt);
        if (status === 200) {
          this.pages.noteSuccess();
          this.check(body, expected);
        } else this.pages.noteFailure(String(status));
      } catch {
        this.pages.noteFailure('broken');
        await wait(retryMs);
      }
    }
    connection.close();
  }

  private check(body: Buffer, expected: readonly string[]): void {
    if (expected.length === 0) return;
    this.checked += 1;
    if (findMissing(body, expected).length > 0) this.outdated += 1;
  }
}

function printPost(body: string, token: string): string {
  return (
    'POST /api/v1/platform-events HTTP/1.1\r\nHost: events.example.org\r\nContent-Type: application/json\r\n' +
    `Authorization: Token ${token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}

runLoadProcess((options: PageLoadOptions) => new PageLoad(options).start());
