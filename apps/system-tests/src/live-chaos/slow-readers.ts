import { setTimeout as wait } from 'node:timers/promises';
import { say } from '../measure/progress.js';
import type { Section } from '../measure/report.js';
import type { LiveBed } from './live-bed.js';
import { printSlowReaders } from './slow-readers-report.js';
import { measureStalledReaders, planBigReaders, type StalledReadersResult } from './stalled-readers.js';
import { eventTypes, makeBigEvent, makeSmallEvent } from '../fleet/test-events.js';

/** The result of stopping readers. */
export interface SlowReadersResult {
  clients: number;
  windowSeconds: number;
  windowReaders: number;
  /** The p99 of the other clients in each window, in milliseconds: while the readers of big events read, and while they do not read. */
  p99Ms: { reading: number[]; stopped: number[] };
  stalled: StalledReadersResult;
}

// 20,000 deliveries per second, as in the promise about latency.
const smallPerSecond = 20;
// Each reader gets 1.3 MB per second, so the operating system's buffers of about 3 MB are full within three seconds.
const bigPerSecond = 20;
const windowReaders = 10;
const [crowdGroup, readersGroup] = ['beside', 'big'];

/** Lets some readers stop reading, and measures the cost for the other clients and for the gateway. */
export async function runSlowReaders(bed: LiveBed): Promise<Section> {
  const { clients, windowSeconds } = bed.size;
  const p99Ms = await compareWindows(bed);
  const stalled = await measureStalledReaders(bed);
  return printSlowReaders({ clients, windowSeconds, windowReaders, p99Ms, stalled });
}

/** Measures the latency of the other clients in alternating windows: the readers of big events read in one window, but not in the next. */
async function compareWindows(bed: LiveBed): Promise<SlowReadersResult['p99Ms']> {
  const { crowd, others, size } = bed;
  const plans = Array.from({ length: size.clients }, (_, number) => ({
    token: bed.tokenOf(number),
    filter: { event_type: [...eventTypes] },
    ports: bed.ports.slice(0, 1),
  }));
  await crowd.open(crowdGroup, plans);
  await others.open(readersGroup, planBigReaders(bed, windowReaders));
  await Promise.all([crowd.waitUntilReady(crowdGroup), others.waitUntilReady(readersGroup)]);
  const p99Ms: SlowReadersResult['p99Ms'] = { reading: [], stopped: [] };
  await bed.underLoad({ perSecond: smallPerSecond, make: () => makeSmallEvent() }, async () => {
    // The first pair is the warm-up. The order of the two windows alternates, so that drift affects both kinds equally.
    for (let pair = 0; pair <= size.windowPairs; pair += 1) {
      const kinds = ['reading', 'stopped'] as const;
      for (const kind of pair % 2 === 0 ? kinds : kinds.toReversed()) {
        const ms = await measureWindow(bed, kind === 'reading');
        if (pair > 0) p99Ms[kind].push(ms);
        say(
          `slow-readers: ${kind}, p99 of the other clients ${ms.toFixed(1)} ms${pair === 0 ? ' (warm-up)' : ''}`,
        );
      }
    }
  });
  await Promise.all([crowd.drop(crowdGroup), others.drop(readersGroup)]);
  return p99Ms;
}

async function measureWindow(bed: LiveBed, isReading: boolean): Promise<number> {
  const { crowd, others, size } = bed;
  await others.setReading(readersGroup, isReading);
  const p99Ms = await bed.underLoad({ perSecond: bigPerSecond, make: makeBigEvent }, async () => {
    await crowd.takeCounts(crowdGroup);
    await wait(size.windowSeconds * 1_000);
    return (await crowd.takeCounts(crowdGroup)).latencyMs.p99;
  });
  await others.setReading(readersGroup, true);
  // Wait until the readers have caught up, so that catching up does not affect the next window.
  await others.settle(readersGroup, { quietMs: 800, limitMs: 15_000 });
  return p99Ms;
}
