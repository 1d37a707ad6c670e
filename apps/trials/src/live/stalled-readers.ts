import { setTimeout as wait } from 'node:timers/promises';
import { memoryMegabytes } from '../measure/processes.js';
import { say, waitFor } from '../measure/progress.js';
import { median } from '../measure/quantile.js';
import { totalOf, type Judgement } from './fleet-messages.js';
import type { LiveBed } from './live-bed.js';
import type { ClientPlan } from './resuming-client.js';
import { bigEventType, makeBigEvent } from './trial-events.js';

/** What readers cost that stop reading for good, and what becomes of them. */
export interface StalledReadersResult {
  readers: number;
  /** Memory of the gateway: before they stopped, and when their buffers were full. */
  beforeMegabytes: number;
  fullMegabytes: number;
  /** How many the gateway says it has cut for it. */
  cut: number;
  /** From the moment they stopped until the last one was cut; undefined when some never were. */
  cutAfterMs: number | undefined;
  /** How the readers saw their connections end. */
  endings: Record<string, number>;
  /** What they have got in the end. */
  judgement: Judgement;
}

const bigPerSecond = 10;
// 16 MiB of big events fill the gateway's ring: from then on its memory does not grow by that any more.
const warmUpMs = 28_000;
const quietMs = 2_000;
const quietSamples = 8;
const sampleMs = 250;
// Of these many samples before the first one is cut, all buffers are full: what takes nothing is cut after 10 s.
const fullSamples = 20;
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
  const { others, size, tap } = bed;
  const [gateway, ...otherGateways] = bed.system.gateways;
  if (!gateway) throw new Error('there is no gateway');
  const countCut = (): Promise<number> =>
    gateway.metric('live_connections_closed_total', { reason: 'too_slow' });
  await gateway.restart();
  await others.open(group, planBigReaders(bed, size.stalledReaders));
  await others.waitUntilReady(group);
  // Through the other one: requests cost memory, too.
  const big = { perSecond: bigPerSecond, make: makeBigEvent, gateways: otherGateways };
  await bed.underLoad(big, () => wait(warmUpMs));
  await wait(quietMs);
  const before: number[] = [];
  for (let count = 0; count < quietSamples; count += 1) {
    before.push(memoryMegabytes(gateway.pid));
    await wait(sampleMs);
  }
  await others.setReading(group, false);
  const stalled = await bed.underLoad(big, () => sampleUntilCut(gateway.pid, countCut, size.stalledReaders));
  await others.setReading(group, true);
  const settled = await others.settle(group);
  const judgement = await others.judge(group, await tap.readHistory());
  await others.drop(group);
  return {
    readers: size.stalledReaders,
    beforeMegabytes: median(before),
    ...stalled,
    endings: totalOf(settled.counts).endings,
    judgement,
  };
}

async function sampleUntilCut(
  pid: number,
  countCut: () => Promise<number>,
  readers: number,
): Promise<Pick<StalledReadersResult, 'fullMegabytes' | 'cut' | 'cutAfterMs'>> {
  const stoppedAt = performance.now();
  const samples: number[] = [];
  let cut = 0;
  const cutAfterMs = await waitFor(
    async () => {
      cut = await countCut();
      if (cut === 0) samples.push(memoryMegabytes(pid));
      return cut >= readers ? performance.now() - stoppedAt : undefined;
    },
    { limitMs: cutLimitMs, everyMs: sampleMs },
  );
  say(`slow-readers: ${cut} of ${readers} cut after ${Math.round(performance.now() - stoppedAt)} ms`);
  return { fullMegabytes: median(samples.slice(-fullSamples)), cut, cutAfterMs };
}
