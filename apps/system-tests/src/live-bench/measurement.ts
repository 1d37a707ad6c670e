import { setTimeout as wait } from 'node:timers/promises';
import { FaultLoad } from '../chaos/fault-load.js';
import { makeSmallEvent } from '../fleet/test-events.js';
import { say } from '../measure/progress.js';
import type { BenchBed, SubjectName } from './bench-bed.js';
import type { DeliveryCounts } from '../fleet/fleet-messages.js';

export interface Measurement {
  /** Messages per second over all clients. */
  perSecond: number;
  latencyMs: DeliveryCounts['latencyMs'];
  /** Ended connections; should be 0. */
  ended: number;
  /** Average number of cores in use, by process. */
  cores: Record<string, number>;
  /** Memory growth of the server per client, in KiB. */
  memoryPerClient: number;
}

export interface Pace {
  warmUpSeconds: number;
  seconds: number;
}

/** Maximum number of events by which the stream is ahead of the slowest client, and number of events published at once. */
interface Feed {
  maxAhead: number;
  batch: number;
}

// The servers must never wait for the stream, but at most 150 KB should wait for a client.
const saturating: Feed = { maxAhead: 256, batch: 32 };
const oneByOne: Feed = { maxAhead: 1, batch: 1 };

/**
 * Clients read the clock for every 17th message only. Reading it each time would make them slower than the server. 17 does not divide the
 * number of clients, so all clients are sampled.
 */
export const sampled = 17;

// Pause between two publishes. Timers are not more precise, so all events that are due go out together.
const paceMs = 2;

/** Maximum throughput: publishes as fast as the slowest client receives. */
export function measureMaximum(bed: BenchBed, subject: SubjectName, pace: Pace): Promise<Measurement> {
  return measureFed(bed, subject, { pace, feed: saturating });
}

/** Publishes each event after all clients have received the previous one. */
export function measureOneByOne(bed: BenchBed, subject: SubjectName, pace: Pace): Promise<Measurement> {
  return measureFed(bed, subject, { pace, feed: oneByOne });
}

/** Latency from request to delivery, at a fixed rate. */
export async function measureWholeWay(
  bed: BenchBed,
  subject: SubjectName,
  { eventsPerSecond, sampleEvery, ...pace }: Pace & { eventsPerSecond: number; sampleEvery: number },
): Promise<Measurement> {
  const load = new FaultLoad({
    ...bed.system,
    gatewayUrls: bed.system.gateways.map(({ url }) => url),
    perSecond: eventsPerSecond,
    // At 10 requests per second, each client has time to wait for its replies, which take about 10 ms.
    clients: Math.max(4, Math.ceil(eventsPerSecond / 10)),
    make: () => makeSmallEvent(),
  });
  await bed.connect(subject, { sampleEvery });
  load.start();
  try {
    return await measure(bed, subject, pace);
  } finally {
    await load.stop();
    await bed.disconnect();
  }
}

/** Latency from publishing to delivery. Bypasses the store, which could not reach this rate. */
export async function measureFromStream(
  bed: BenchBed,
  subject: SubjectName,
  { eventsPerSecond, ...pace }: Pace & { eventsPerSecond: number },
): Promise<Measurement> {
  await bed.connect(subject, { sampleEvery: sampled });
  const feeding = startFeeding(async (isStopped) => {
    const startedAt = performance.now();
    for (let published = 0; !isStopped();) {
      const due = Math.floor(((performance.now() - startedAt) / 1_000) * eventsPerSecond) - published;
      if (due > 0) await publish(bed, due);
      published += Math.max(0, due);
      await wait(paceMs);
    }
  });
  try {
    return await measure(bed, subject, pace);
  } finally {
    await feeding.stop();
    await bed.disconnect();
  }
}

async function measureFed(
  bed: BenchBed,
  subject: SubjectName,
  { pace, feed: { maxAhead, batch } }: { pace: Pace; feed: Feed },
): Promise<Measurement> {
  await bed.connect(subject, { isLockstep: maxAhead === 1 });
  const feeding = startFeeding(async (isStopped) => {
    for (let published = 0; !isStopped();) {
      if (published + batch - bed.slowest > maxAhead) {
        await bed.waitForProgress();
        continue;
      }
      await publish(bed, batch);
      published += batch;
    }
  });
  try {
    return await measure(bed, subject, pace);
  } finally {
    await feeding.stop();
    await bed.disconnect();
  }
}

async function measure(bed: BenchBed, subject: SubjectName, pace: Pace): Promise<Measurement> {
  await wait(pace.warmUpSeconds * 1_000);
  const before = bed.readCpu();
  await bed.takeCounts();
  await wait(pace.seconds * 1_000);
  const { received, seconds, latencyMs, ended } = await bed.takeCounts();
  const cores = Object.fromEntries(
    Object.entries(bed.readCpu()).map(([name, cpu]) => [name, (cpu - (before[name] ?? 0)) / seconds]),
  );
  const perSecond = received / seconds;
  say(
    `${subject}: ${Math.round(perSecond)} messages/s, p99 ${latencyMs.p99.toFixed(1)} ms, ${ended} ended, cores: ${JSON.stringify(cores, rounded)}`,
  );
  return { perSecond, latencyMs, ended, cores, memoryPerClient: bed.memoryPerClient(subject) };
}

function publish({ publisher }: BenchBed, count: number): Promise<void> {
  return publisher.publish(Array.from({ length: count }, () => makeSmallEvent('keyed post')));
}

/** Publishes until `stop` is called. `stop` waits for the last publish. */
function startFeeding(run: (isStopped: () => boolean) => Promise<void>): { stop(): Promise<void> } {
  let isStopped = false;
  const running = run(() => isStopped);
  // Prevent an unhandled rejection: `stop` rethrows the error.
  running.catch(() => undefined);
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
