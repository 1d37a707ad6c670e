import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { CountingPlan, DeliveryCounts } from './fleet-messages.js';
import { readSentAt } from './read-delivery.js';
import { nowMicroseconds } from './test-events.js';
import { WebSocketClient } from './web-socket.js';

// Concurrent handshakes. If ten thousand clients connected at once, every handshake would exceed its time limit.
const maxHandshakes = 200;
// Pause between two progress reports. The publisher is up to a few hundred events ahead of the slowest client, so it does not need reports
// more often.
const progressIntervalMs = 10;

/** Clients that only count events. A thousand of them use less CPU than the server under test. */
export class CountingGroup {
  private readonly sockets: WebSocketClient[] = [];
  private readonly received: Float64Array;
  /** Count of the slowest client, and the number of clients with that count. */
  private slowest = 0;
  private laggards: number;
  private total = 0;
  private opened = 0;
  private ended = 0;
  private latencies: RecordableHistogram = createHistogram();
  private countedSince = performance.now();
  private readonly progressTimer: NodeJS.Timeout;
  private isClosed = false;

  constructor(
    private readonly plan: CountingPlan,
    private readonly onProgress: (slowest: number) => void,
  ) {
    this.received = new Float64Array(plan.firstMessages.length);
    this.laggards = plan.firstMessages.length;
    for (let index = 0; index < maxHandshakes; index += 1) this.connectNext();
    this.progressTimer = setInterval(() => this.reportProgress(), progressIntervalMs);
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.progressTimer);
    for (const socket of this.sockets) socket.close();
  }

  takeCounts(): DeliveryCounts {
    const { total, opened, ended, latencies, countedSince, received } = this;
    this.total = 0;
    this.latencies = createHistogram();
    this.countedSince = performance.now();
    return {
      clients: received.length,
      connected: opened - ended,
      ended,
      seconds: (this.countedSince - countedSince) / 1_000,
      received: total,
      latencyMs: readLatencies(latencies),
    };
  }

  private connectNext(): void {
    const index = this.sockets.length;
    const { port, path, firstMessages } = this.plan;
    const firstMessage = firstMessages[index];
    if (firstMessage === undefined || this.isClosed) return;
    this.sockets.push(
      new WebSocketClient(
        { port, path, firstMessage },
        {
          onOpen: () => {
            this.opened += 1;
            this.connectNext();
          },
          onText: (bytes, start) => this.onText(index, bytes, start),
          onEnd: () => {
            this.ended += 1;
            // Infinity: the publisher must not wait for a disconnected client.
            this.setCount(index, Infinity);
          },
        },
      ),
    );
  }

  private onText(index: number, bytes: Buffer, start: number): void {
    const { sampleEvery } = this.plan;
    this.total += 1;
    this.setCount(index, (this.received[index] ?? 0) + 1);
    if (sampleEvery > 0 && this.total % sampleEvery === 0)
      this.latencies.record(Math.max(1, nowMicroseconds() - readSentAt(bytes, start)));
  }

  private setCount(index: number, count: number): void {
    const before = this.received[index];
    this.received[index] = count;
    if (before !== this.slowest) return;
    this.laggards -= 1;
    if (this.laggards > 0) return;
    this.slowest = this.received.reduce((least, each) => Math.min(least, each), Infinity);
    this.laggards = this.received.filter((each) => each === this.slowest).length;
  }

  private reportProgress(): void {
    if (!this.isClosed && this.slowest < Infinity) this.onProgress(this.slowest);
  }
}

/** Converts a histogram of microseconds to percentiles in milliseconds. An empty histogram gives 0. */
export function readLatencies(latencies: RecordableHistogram): DeliveryCounts['latencyMs'] {
  const milliseconds = (microseconds: number): number => (latencies.count === 0 ? 0 : microseconds / 1_000);
  return {
    p50: milliseconds(latencies.percentile(50)),
    p99: milliseconds(latencies.percentile(99)),
    max: milliseconds(latencies.max),
  };
}
