import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { readSentAt } from '../live-chaos/read-delivery.js';
import { nowMicroseconds } from '../live-chaos/test-events.js';
import { WebSocketClient } from '../live-chaos/web-socket.js';

/** Clients that count what they get, and nothing else. */
export interface CountingOptions {
  port: number;
  path: string;
  /** One client for each: what it says first. */
  firstMessages: readonly string[];
  /** Of how many messages one is read for when it was sent, which costs more than all the rest; 0: none. */
  timeEach: number;
  /** Whether to tell at once when all have an event, instead of every 10 ms. */
  isLockstep: boolean;
}

/** What was counted since the mark before. */
export interface DeliveryCounts {
  seconds: number;
  received: number;
  /** Connections that have ended. */
  ended: number;
  latencyMs: { p50: number; p99: number; max: number };
}

export type CountingAnswer =
  | { kind: 'opened' | 'closed' }
  | { kind: 'counts'; counts: DeliveryCounts }
  /** How many events the slowest client has got since it connected. */
  | { kind: 'progress'; slowest: number };

// This process is forked by `Counting`.

// The feeder of the stream keeps a few hundred events ahead of the slowest client.
const progressEveryMs = 10;

class CountingClients {
  private readonly sockets: WebSocketClient[];
  private readonly received: Float64Array;
  /** What the slowest client has, and how many have no more. */
  private slowest = 0;
  private laggards: number;
  private total = 0;
  private ended = 0;
  private latencies: RecordableHistogram = createHistogram();
  private markedAt = performance.now();
  private readonly progress: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly options: CountingOptions,
    onOpened: () => void,
  ) {
    const { port, path, firstMessages, timeEach, isLockstep } = options;
    this.received = new Float64Array(firstMessages.length);
    this.laggards = firstMessages.length;
    let opened = 0;
    this.sockets = firstMessages.map(
      (firstMessage, index) =>
        new WebSocketClient(
          { port, path, firstMessage },
          {
            onOpen: () => {
              opened += 1;
              if (opened === firstMessages.length) onOpened();
            },
            onText: (bytes, start) => {
              this.total += 1;
              this.note(index, (this.received[index] ?? 0) + 1);
              if (timeEach > 0 && this.total % timeEach === 0)
                this.latencies.record(Math.max(1, nowMicroseconds() - readSentAt(bytes, start)));
            },
            onEnd: () => {
              this.ended += 1;
              // Nobody waits for it any more.
              this.note(index, Infinity);
            },
          },
        ),
    );
    if (!isLockstep) this.progress = setInterval(() => this.tellProgress(), progressEveryMs);
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.progress);
    for (const socket of this.sockets) socket.close();
  }

  takeCounts(): DeliveryCounts {
    const { total, ended, latencies, markedAt } = this;
    this.total = 0;
    this.latencies = createHistogram();
    this.markedAt = performance.now();
    const milliseconds = (microseconds: number): number => microseconds / 1_000;
    return {
      seconds: (this.markedAt - markedAt) / 1_000,
      received: total,
      ended,
      latencyMs: {
        p50: milliseconds(latencies.percentile(50)),
        p99: milliseconds(latencies.percentile(99)),
        max: milliseconds(latencies.max),
      },
    };
  }

  /** A client has so many events now. */
  private note(index: number, count: number): void {
    const before = this.received[index];
    this.received[index] = count;
    if (before !== this.slowest) return;
    this.laggards -= 1;
    if (this.laggards > 0) return;
    this.slowest = this.received.reduce((least, each) => Math.min(least, each), Infinity);
    this.laggards = this.received.filter((each) => each === this.slowest).length;
    if (this.options.isLockstep) this.tellProgress();
  }

  private tellProgress(): void {
    // Of clients that are all gone nothing can be said.
    if (!this.isClosed && this.slowest < Infinity) answer({ kind: 'progress', slowest: this.slowest });
  }
}

function answer(message: CountingAnswer): void {
  process.send?.(message);
}

let clients: CountingClients | undefined;

process.on('message', (message: CountingOptions | 'count' | 'close') => {
  if (message === 'count') {
    if (clients) answer({ kind: 'counts', counts: clients.takeCounts() });
  } else if (message === 'close') {
    clients?.close();
    clients = undefined;
    answer({ kind: 'closed' });
  } else {
    clients = new CountingClients(message, () => answer({ kind: 'opened' }));
  }
});
process.once('disconnect', () => process.exit());
