import { setTimeout as wait } from 'node:timers/promises';
import { ServiceProcess } from '@stream-events/testing';
import { memoryMegabytes } from '../measure/processes.js';
import { say, waitFor } from '../measure/progress.js';
import { median } from '../measure/quantile.js';
import { totalOf, type Judgement } from '../fleet/fleet-messages.js';
import type { LiveBed } from './live-bed.js';
import type { ClientPlan } from '../fleet/resuming-client.js';
import { bigEventType, makeBigEvent } from '../fleet/test-events.js';

/** What permanently stopped readers cost, and how the gateway treats them. */
export interface StalledReadersResult {
  readers: number;
  /**
   * Gateway memory when the readers' buffers were full, and after the readers had reconnected and caught up. The test published nothing
   * between the two measurements, so the ring buffer held the same events both times.
   */
  full: GatewayMemory;
  after: GatewayMemory;
  /** Readers that the gateway disconnected because they read too slowly. */
  cut: number;
  /** Time until the gateway had disconnected the last reader. Undefined if some readers stayed connected. */
  cutAfterMs: number | undefined;
  /** The readers' ended connections, by close code. */
  endings: Record<string, number>;
  /** Whether the readers received everything after they reconnected. */
  judgement: Judgement;
}

export interface GatewayMemory {
  /** In MiB, right after garbage collection. */
  used: number;
  /** Private memory of the process in MiB, including garbage and reserves. */
  own: number;
}

// Makes the gateway collect garbage on SIGUSR2. Each reader costs 1 MiB, which garbage would hide.
const collectOnSignal = [
  '--expose-gc',
  '--import',
  `data:text/javascript,${encodeURIComponent('process.on("SIGUSR2", () => gc())')}`,
];
const collectingMs = 300;

const bigPerSecond = 10;
// Time for which big events flow before the measurement. They fill the gateway's ring buffer (16 MiB), which then stops growing.
const warmUpMs = 28_000;
const quietMs = 2_000;
const sampleMs = 250;
// `full` is the median of the last 5 samples before the first disconnect. These samples span about 2 s. Memory no longer grows in that
// time, because the gateway disconnects a reader only after 10 s without reading.
const fullSamples = 5;
const mostlyFullMegabytes = 0.7;
// Time limit until the gateway has disconnected all readers. The operating system's buffers fill within seconds. The gateway
// disconnects the readers 10 s later.
const cutLimitMs = 60_000;
const group = 'stalled';

/** Plans readers of big events at the first gateway. Each gets its own filter: readers with the same filter would share buffer memory. */
export function planBigReaders(bed: LiveBed, count: number): ClientPlan[] {
  return Array.from({ length: count }, (_, number) => ({
    token: bed.tokenOf(number),
    filter: { event_type: [bigEventType, `reader-${number}`] },
    ports: bed.ports.slice(0, 1),
  }));
}

/** Connects many readers to a fresh gateway without other clients. All readers stop reading at the same time. */
export async function measureStalledReaders(bed: LiveBed): Promise<StalledReadersResult> {
  const [usual, ...otherGateways] = bed.system.gateways;
  if (!usual) throw new Error('the bed has no gateway');
  await usual.stop();
  const gateway = new ServiceProcess('gateway', usual.environment, { nodeOptions: collectOnSignal });
  await gateway.start();
  try {
    // Send requests to the other gateways, because requests also need memory.
    return await stopReaders(bed, gateway, otherGateways);
  } finally {
    await gateway.stop();
    await usual.start();
  }
}

async function stopReaders(
  bed: LiveBed,
  gateway: ServiceProcess,
  otherGateways: ServiceProcess[],
): Promise<StalledReadersResult> {
  const { others, size, tap } = bed;
  const big = { perSecond: bigPerSecond, make: makeBigEvent, gateways: otherGateways };
  await others.open(group, planBigReaders(bed, size.stalledReaders));
  await others.waitUntilReady(group);
  await bed.underLoad(big, () => wait(warmUpMs));
  await wait(quietMs);
  const before = await readMemory(gateway);
  const watch = new StallWatch(gateway, size.stalledReaders);
  await others.setReading(group, false);
  // Publish only until the buffers are full, because published events also need memory.
  await bed.underLoad(big, () => watch.untilFull(before.used));
  const cutAfterMs = await watch.untilCut();
  await others.setReading(group, true);
  const settled = await others.settle(group);
  const after = await readMemory(gateway);
  const judgement = await others.judge(group, await tap.readHistory());
  await others.drop(group);
  const { endings } = totalOf(settled.counts);
  const { full, cut } = watch;
  return { readers: size.stalledReaders, full, after, cut, cutAfterMs, endings, judgement };
}

/** Watches a gateway after its readers have stopped reading. */
class StallWatch {
  cut = 0;
  private readonly stoppedAt = performance.now();
  /** Samples before the first disconnect. */
  private readonly samples: GatewayMemory[] = [];

  constructor(
    private readonly gateway: ServiceProcess,
    private readonly readers: number,
  ) {}

  /** Memory just before the first disconnect. */
  get full(): GatewayMemory {
    const last = this.samples.slice(-fullSamples);
    return { used: median(last.map(({ used }) => used)), own: median(last.map(({ own }) => own)) };
  }

  /** Waits until memory has grown by most of the expected amount, and then a little longer. */
  async untilFull(usedBefore: number): Promise<void> {
    const isFull = async (): Promise<true | undefined> => {
      const { used } = await this.sample();
      return this.cut > 0 || used - usedBefore > this.readers * mostlyFullMegabytes ? true : undefined;
    };
    await waitFor(isFull, { limitMs: cutLimitMs, everyMs: sampleMs });
    await wait(quietMs);
  }

  /** Returns the milliseconds until all readers were disconnected, or undefined if some readers stayed connected. */
  async untilCut(): Promise<number | undefined> {
    const cutAfterMs = await waitFor(
      async () => {
        await this.sample();
        return this.cut >= this.readers ? performance.now() - this.stoppedAt : undefined;
      },
      { limitMs: cutLimitMs, everyMs: sampleMs },
    );
    say(
      `slow-readers: ${this.cut} of ${this.readers} disconnected after ${Math.round(performance.now() - this.stoppedAt)} ms`,
    );
    return cutAfterMs;
  }

  private async sample(): Promise<GatewayMemory> {
    const memory = await readMemory(this.gateway);
    this.cut = await this.gateway.metric('live_connections_closed_total', { reason: 'too_slow' });
    if (this.cut === 0) this.samples.push(memory);
    return memory;
  }
}

async function readMemory(gateway: ServiceProcess): Promise<GatewayMemory> {
  process.kill(gateway.pid, 'SIGUSR2');
  await wait(collectingMs);
  const [heap, external] = await Promise.all([
    gateway.metric('nodejs_heap_size_used_bytes'),
    gateway.metric('nodejs_external_memory_bytes'),
  ]);
  return { used: (heap + external) / 1024 ** 2, own: memoryMegabytes(gateway.pid) };
}
