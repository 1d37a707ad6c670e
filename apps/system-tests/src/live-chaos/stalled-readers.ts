import { setTimeout as wait } from 'node:timers/promises';
import { ServiceProcess } from '@stream-events/testing';
import { memoryMegabytes } from '../measure/processes.js';
import { say, waitFor } from '../measure/progress.js';
import { median } from '../measure/quantile.js';
import { totalOf, type Judgement } from '../fleet/fleet-messages.js';
import type { LiveBed } from './live-bed.js';
import type { ClientPlan } from '../fleet/resuming-client.js';
import { bigEventType, makeBigEvent } from '../fleet/test-events.js';

/** What readers cost that stop reading for good, and what becomes of them. */
export interface StalledReadersResult {
  readers: number;
  /**
   * Memory of the gateway when their buffers were full, and when they had come back and caught up. In between nothing was
   * published: what the gateway keeps of the stream itself is the same, which before they stopped it was not.
   */
  full: GatewayMemory;
  after: GatewayMemory;
  /** How many the gateway says it has cut for it. */
  cut: number;
  /** From the moment they stopped until the last one was cut; undefined when some never were. */
  cutAfterMs: number | undefined;
  /** How the readers saw their connections end. */
  endings: Record<string, number>;
  /** What they have got in the end. */
  judgement: Judgement;
}

/** In MiB. */
export interface GatewayMemory {
  /** What is in use, right after the garbage was collected. */
  used: number;
  /** What the system has given to the process alone, garbage and reserves included. */
  own: number;
}

// Collects the garbage when it is told to: a megabyte of each reader is less than what lies about otherwise.
const collectOnSignal = [
  '--expose-gc',
  '--import',
  `data:text/javascript,${encodeURIComponent('process.on("SIGUSR2", () => gc())')}`,
];
const collectingMs = 300;

const bigPerSecond = 10;
// 16 MiB of big events fill the gateway's ring: from then on its memory does not grow by that any more.
const warmUpMs = 28_000;
const quietMs = 2_000;
const sampleMs = 250;
// Two or three seconds, in which nothing moves any more: what takes nothing is cut after ten.
const fullSamples = 5;
const mostlyFullMegabytes = 0.7;
// The system's buffers take some seconds to fill, then ten seconds of taking nothing.
const cutLimitMs = 60_000;
const group = 'stalled';

/**
 * Readers of big events at the first gateway, each with a filter of its own: otherwise what waits for them would be the
 * same memory.
 */
export function planBigReaders(bed: LiveBed, count: number): ClientPlan[] {
  return Array.from({ length: count }, (_, number) => ({
    token: bed.tokenOf(number),
    filter: { event_type: [bigEventType, `reader-${number}`] },
    ports: bed.ports.slice(0, 1),
  }));
}

/** Stops many readers at once at a gateway that was just started and serves nobody else. */
export async function measureStalledReaders(bed: LiveBed): Promise<StalledReadersResult> {
  const [usual, ...otherGateways] = bed.system.gateways;
  if (!usual) throw new Error('there is no gateway');
  await usual.stop();
  const gateway = new ServiceProcess('gateway', usual.environment, collectOnSignal);
  await gateway.start();
  try {
    // Requests go to the other one: they cost memory, too.
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
  // What is published costs memory, too: it ends when the buffers are full.
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

/** Looks at a gateway whose readers have just stopped. */
class StallWatch {
  cut = 0;
  private readonly stoppedAt = performance.now();
  /** Until the first one was cut. */
  private readonly samples: GatewayMemory[] = [];

  constructor(
    private readonly gateway: ServiceProcess,
    private readonly readers: number,
  ) {}

  /** Of the time just before the first one was cut. */
  get full(): GatewayMemory {
    const last = this.samples.slice(-fullSamples);
    return { used: median(last.map(({ used }) => used)), own: median(last.map(({ own }) => own)) };
  }

  /** Waits until memory has grown by most of what is expected, and a little longer. */
  async untilFull(usedBefore: number): Promise<void> {
    const isFull = async (): Promise<true | undefined> => {
      const { used } = await this.sample();
      return this.cut > 0 || used - usedBefore > this.readers * mostlyFullMegabytes ? true : undefined;
    };
    await waitFor(isFull, { limitMs: cutLimitMs, everyMs: sampleMs });
    await wait(quietMs);
  }

  /** @returns how long it took from the start until all were cut; undefined when some were not in time */
  async untilCut(): Promise<number | undefined> {
    const cutAfterMs = await waitFor(
      async () => {
        await this.sample();
        return this.cut >= this.readers ? performance.now() - this.stoppedAt : undefined;
      },
      { limitMs: cutLimitMs, everyMs: sampleMs },
    );
    say(
      `slow-readers: ${this.cut} of ${this.readers} cut after ${Math.round(performance.now() - this.stoppedAt)} ms`,
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
