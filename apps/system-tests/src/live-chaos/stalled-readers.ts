import { setTimeout as wait } from 'node:timers/promises';
import { ServiceProcess } from '@stream-events/testing';
import { memoryMegabytes } from '../measure/processes.js';
import { say, waitFor } from '../measure/progress.js';
import { median } from '../measure/quantile.js';
import { formatSeconds, type Section } from '../measure/report.js';
import { totalOf } from '../fleet/fleet-messages.js';
import type { ClientPlan } from '../fleet/resuming-client.js';
import { bigEventType, makeBigEvent } from '../fleet/test-events.js';
import { printCounts, printFindings, type LiveBed } from './live-bed.js';

interface GatewayMemory {
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
// The memory with full buffers is the median of the last 5 samples before the first disconnect. These samples span about 2 s. Memory no
// longer grows in that time, because the gateway disconnects a reader only after 10 s without reading.
const fullSamples = 5;
const mostlyFullMegabytes = 0.7;
const maxMegabytes = 1;
// Time limit until the gateway has disconnected all readers. The operating system's buffers fill within seconds. The gateway
// disconnects the readers 10 s later.
const cutLimitMs = 60_000;
const group = 'stalled';

/** Plans readers of big events at the first gateway. Each gets its own filter: readers with the same filter would share buffer memory. */
export function planBigReaders(live: LiveBed, count: number): ClientPlan[] {
  return Array.from({ length: count }, (_, number) => ({
    token: live.tokenOf(number),
    filter: { event_type: [bigEventType, `reader-${number}`] },
    ports: live.ports.slice(0, 1),
  }));
}

/** Connects many readers to a fresh gateway without other clients. All readers stop reading at the same time, permanently. */
export async function measureStalledReaders(live: LiveBed): Promise<Omit<Section, 'title'>> {
  const [usual, ...otherGateways] = live.bed.system.gateways;
  if (!usual) throw new Error('the bed has no gateway');
  await usual.stop();
  const gateway = new ServiceProcess('gateway', usual.environment, { nodeOptions: collectOnSignal });
  await gateway.start();
  try {
    // Send requests to the other gateways, because requests also need memory.
    return await stopReaders(live, gateway, otherGateways);
  } finally {
    await gateway.stop();
    await usual.start();
  }
}

async function stopReaders(
  live: LiveBed,
  gateway: ServiceProcess,
  otherGateways: ServiceProcess[],
): Promise<Omit<Section, 'title'>> {
  const { others, size } = live;
  const readers = size.stalledReaders;
  const big = { perSecond: bigPerSecond, make: makeBigEvent, gateways: otherGateways };
  await others.open(group, planBigReaders(live, readers));
  await others.waitUntilReady(group);
  await live.underLoad(big, () => wait(warmUpMs));
  await wait(quietMs);
  const before = await readMemory(gateway);
  await others.setReading(group, false);
  const stoppedAt = performance.now();
  const samples: GatewayMemory[] = [];
  const countCut = async (): Promise<number> => {
    const memory = await readMemory(gateway);
    const cut = await gateway.metric('live_connections_closed_total', { reason: 'too_slow' });
    if (cut === 0) samples.push(memory);
    return cut;
  };
  const untilTrue = (isMet: () => Promise<boolean>): Promise<true | undefined> =>
    waitFor(async () => (await isMet()) || undefined, { limitMs: cutLimitMs, everyMs: sampleMs });
  // Publish only until the buffers are full, because published events also need memory.
  await live.underLoad(big, async () => {
    await untilTrue(async () => {
      const isCut = (await countCut()) > 0;
      return isCut || (samples.at(-1)?.used ?? 0) - before.used > readers * mostlyFullMegabytes;
    });
    await wait(quietMs);
  });
  const isAllCut = await untilTrue(async () => (await countCut()) >= readers);
  const cutAfter = formatSeconds(performance.now() - stoppedAt);
  const cut = await countCut();
  say(`slow-readers: ${cut} of ${readers} disconnected after ${cutAfter}`);
  // Nothing is published from here on, so the ring buffer holds the same events in both measurements.
  await others.setReading(group, true);
  const { endings } = totalOf((await others.settle(group)).counts);
  const after = await readMemory(gateway);
  const last = samples.slice(-fullSamples);
  const full = { used: median(last.map(({ used }) => used)), own: median(last.map(({ own }) => own)) };
  const judgement = await live.judge(others, group);
  const each = (full.used - after.used) / readers;
  return {
    paragraphs: [
      `Then ${readers} such readers, each with its own filter, connect to a new gateway that serves no other clients, and stop reading permanently. When the buffers of all readers were full, the gateway used ${full.used.toFixed(0)} MiB after a garbage collection, and ${full.own.toFixed(0)} MiB of private memory. After the readers had reconnected and caught up, with nothing published in between, these figures were ${after.used.toFixed(0)} and ${after.own.toFixed(0)} MiB. Time until the last reader was disconnected: ${isAllCut ? cutAfter : '**never**'}. Close codes of the readers’ connections: ${printCounts(endings)}.`,
      ...printFindings(judgement),
    ],
    promises: [
      {
        promise: `A reader that stops reading costs the gateway at most ${maxMegabytes} MiB`,
        measured: `${each.toFixed(2)} MiB per reader, with ${readers} readers`,
        isKept: each <= maxMegabytes,
      },
      {
        promise: 'The gateway disconnects such a reader with the close code 4408',
        measured: `${cut} of ${readers} disconnected, ${endings['4408'] ?? 0} with this code`,
        isKept: cut === readers && endings['4408'] === readers,
      },
      {
        promise: 'A disconnected reader resumes from its position and receives everything, once and in order',
        measured: `${judgement.found} of ${judgement.clients} with findings`,
        isKept: judgement.clients === readers && judgement.found === 0,
      },
    ],
  };
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
