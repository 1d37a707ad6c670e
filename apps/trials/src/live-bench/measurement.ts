import { setTimeout as wait } from 'node:timers/promises';
import { FaultLoad } from '../faults/fault-load.js';
import { makeSmallEvent } from '../live/trial-events.js';
import { say } from '../measure/progress.js';
import type { BenchBed, SubjectName } from './bench-bed.js';
import type { DeliveryCounts } from './counting-clients.js';

/** What was measured of a subject in one round. */
export interface Measurement {
  /** Messages that all clients together got in a second. */
  perSecond: number;
  latencyMs: DeliveryCounts['latencyMs'];
  /** Connections that ended, which none should. */
  ended: number;
  /** Cores that each process kept busy. */
  cores: Record<string, number>;
}

/** How long a round is. */
export interface Pace {
  warmUpSeconds: number;
  seconds: number;
}

// So far the stream may be ahead of the slowest client: enough that nobody waits for it, and 150 KB in each client's buffers.
const maxAhead = 256;
const batch = 32;

/** As many messages as a subject delivers: events are put on the stream as fast as the slowest client gets them. */
export async function measureMaximum(bed: BenchBed, subject: SubjectName, pace: Pace): Promise<Measurement> {
  await bed.connect(subject, false);
  const feeding = feed(bed);
  try {
    return await measure(bed, subject, pace);
  } finally {
    await feeding.stop();
    await bed.counting.close();
  }
}

/** How long events take from the sending of their request to the clients, at a rate. */
export async function measureLatency(
  bed: BenchBed,
  subject: SubjectName,
  { eventsPerSecond, ...pace }: Pace & { eventsPerSecond: number },
): Promise<Measurement> {
  await bed.connect(subject, true);
  const load = new FaultLoad({
    ...bed.system,
    gatewayUrls: bed.system.gateways.map(({ url }) => url),
    perSecond: eventsPerSecond,
    // Each has one request in flight, which takes some ten milliseconds.
    clients: Math.max(4, Math.ceil(eventsPerSecond / 10)),
    make: () => makeSmallEvent(),
  });
  load.start();
  try {
    return await measure(bed, subject, pace);
  } finally {
    await load.stop();
    await bed.counting.close();
  }
}

async function measure(bed: BenchBed, subject: SubjectName, pace: Pace): Promise<Measurement> {
  await wait(pace.warmUpSeconds * 1_000);
  const before = bed.readCpu();
  await bed.counting.takeCounts();
  await wait(pace.seconds * 1_000);
  const { received, seconds, latencyMs, ended } = await bed.counting.takeCounts();
  const cores = Object.fromEntries(
    Object.entries(bed.readCpu()).map(([name, cpu]) => [name, (cpu - (before[name] ?? 0)) / seconds]),
  );
  const perSecond = received / seconds;
  say(
    `${subject}: ${Math.round(perSecond)} messages/s, p99 ${latencyMs.p99.toFixed(1)} ms, ${ended} ended, cores: ${JSON.stringify(cores, rounded)}`,
  );
  return { perSecond, latencyMs, ended, cores };
}

function feed({ publisher, counting }: BenchBed): { stop(): Promise<void> } {
  let isStopped = false;
  const run = async (): Promise<void> => {
    for (let published = 0; !isStopped;) {
      if (published - counting.slowest > maxAhead - batch) {
        await wait(1);
        continue;
      }
      await publisher.publish(Array.from({ length: batch }, () => makeSmallEvent('keyed post')));
      published += batch;
    }
  };
  const running = run();
  return {
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 100) / 100 : value;
}
