import { setTimeout as wait } from 'node:timers/promises';
import { say } from '../measure/progress.js';
import { median } from '../measure/quantile.js';
import { formatCount, table, type Section } from '../measure/report.js';
import { eventTypes, makeBigEvent, makeSmallEvent } from '../fleet/test-events.js';
import type { LiveBed } from './live-bed.js';
import { measureStalledReaders, planBigReaders } from './stalled-readers.js';

const windowKinds = ['reading', 'stopped'] as const;

// Small events per second. With all clients, 20,000 deliveries per second, as in the latency promise.
const smallPerSecond = 20;
// Big events per second. They give each reader 1.3 MB per second, which fills the operating system's buffers (3 MB) within 3 s.
const bigPerSecond = 20;
const windowReaders = 10;
const maxRatio = 1.1;
const [crowdGroup, readersGroup] = ['beside', 'big'];

/** Makes some readers stop reading. Measures what this costs the other clients and the gateway. */
export async function runSlowReaders(live: LiveBed): Promise<Section> {
  const { clients, windowSeconds } = live.size;
  const p99Ms = await compareWindows(live);
  const stalled = await measureStalledReaders(live);
  const [stopped, reading] = [median(p99Ms.stopped), median(p99Ms.reading)];
  return {
    title: 'Readers that stop reading',
    paragraphs: [
      `${formatCount(clients)} clients of one gateway receive ${smallPerSecond} events per second each. ${windowReaders} other clients (the readers) receive ${bigPerSecond} events of 64 KiB per second each. The readers read for a window of ${windowSeconds} s and stop reading for the next window. The table shows the p99 of the other clients in each window, from sending the request to delivery:`,
      table(
        ['', ...p99Ms.reading.map((_, index) => String(index + 1)), 'median'],
        windowKinds.map((kind) => [
          kind,
          ...[...p99Ms[kind], median(p99Ms[kind])].map((ms) => `${ms.toFixed(1)} ms`),
        ]),
      ),
      ...stalled.paragraphs,
    ],
    promises: [
      ...stalled.promises,
      {
        promise: `The p99 of the other clients changes by less than 10 %: stopped / reading < ${maxRatio}, medians of ${p99Ms.reading.length} alternating windows`,
        measured: `${stopped.toFixed(1)} / ${reading.toFixed(1)} ms = ${(stopped / reading).toFixed(2)}`,
        isKept: stopped / reading < maxRatio,
      },
    ],
  };
}

/** Measures the latency of the other clients in alternating windows. The readers of big events read in every other window. */
async function compareWindows(live: LiveBed): Promise<Record<(typeof windowKinds)[number], number[]>> {
  const { crowd, others, size } = live;
  const plans = Array.from({ length: size.clients }, (_, number) => ({
    token: live.tokenOf(number),
    filter: { event_type: [...eventTypes] },
    ports: live.ports.slice(0, 1),
  }));
  await crowd.open(crowdGroup, plans);
  await others.open(readersGroup, planBigReaders(live, windowReaders));
  await Promise.all([crowd.waitUntilReady(crowdGroup), others.waitUntilReady(readersGroup)]);
  const p99Ms = { reading: [] as number[], stopped: [] as number[] };
  await live.underLoad({ perSecond: smallPerSecond, make: () => makeSmallEvent() }, async () => {
    // The first pair is the warm-up. Alternate the order of the windows, so that drift affects both kinds equally.
    for (let pair = 0; pair <= size.windowPairs; pair += 1) {
      for (const kind of pair % 2 === 0 ? windowKinds : windowKinds.toReversed()) {
        const ms = await measureWindow(live, kind === 'reading');
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

async function measureWindow(live: LiveBed, isReading: boolean): Promise<number> {
  const { crowd, others, size } = live;
  await others.setReading(readersGroup, isReading);
  const p99Ms = await live.underLoad({ perSecond: bigPerSecond, make: makeBigEvent }, async () => {
    await crowd.takeCounts(crowdGroup);
    await wait(size.windowSeconds * 1_000);
    return (await crowd.takeCounts(crowdGroup)).latencyMs.p99;
  });
  await others.setReading(readersGroup, true);
  // Let the readers catch up now, so that they do not catch up during the next window.
  await others.settle(readersGroup, { quietMs: 800, limitMs: 15_000 });
  return p99Ms;
}
