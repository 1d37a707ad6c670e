import { setTimeout as wait } from 'node:timers/promises';
import { say } from '../measure/progress.js';
import type { Section } from '../measure/report.js';
import type { LiveBed } from './live-bed.js';
import { printSlowReaders } from './slow-readers-report.js';
import { measureStalledReaders, planBigReaders, type StalledReadersResult } from './stalled-readers.js';
import { eventTypes, makeBigEvent, makeSmallEvent } from '../fleet/test-events.js';

export interface SlowReadersResult {
  clients: number;
  windowSeconds: number;
  windowReaders: number;
  /** p99 of the other clients in each window, in milliseconds. `reading`: the readers of big events read. `stopped`: they do not. */
  p99Ms: { reading: number[]; stopped: number[] };
  stalled: StalledReadersResult;
}

// Small events per second. With all clients, 20,000 deliveries per second, as in the latency promise.
const smallPerSecond = 20;
// Big events per second. They give each reader 1.3 MB per second, which fills the operating system's buffers (3 MB) within 3 s.
const bigPerSecond = 20;
const windowReaders = 10;
const [crowdGroup, readersGroup] = ['beside', 'big'];

/** Makes some readers stop reading. Measures what this costs the other clients and the gateway. */
export async function runSlowReaders(bed: LiveBed): Promise<Section> {
  const { clients, windowSeconds } = bed.size;
  const p99Ms = await compareWindows(bed);
  const stalled = await measureStalledReaders(bed);
  return printSlowReaders({ clients, windowSeconds, windowReaders, p99Ms, stalled });
}

/** Measures the latency of the other clients in alternating windows. The readers of big events read in every other window. */
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
    // The first pair is the warm-up. Alternate the order of the windows, so that drift affects both kinds equally.
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
  // Let the readers catch up now, so that they do not catch up during the next window.
  await others.settle(readersGroup, { quietMs: 800, limitMs: 15_000 });
  return p99Ms;
}
