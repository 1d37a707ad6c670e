import { setTimeout as wait } from 'node:timers/promises';
import type { LoadKind, LoadPopulation } from '../load/request-maker.js';
import { startLoad, type Load } from '../load/load.js';
import type { LoadCounts } from '../load/response-counter.js';
import { cpuMicrosecondsPer, cpuReader } from '../measure/cpu-by-role.js';
import { memoryMegabytes, memoryMegabytesOfFamily } from '../measure/processes.js';
import type { Servers } from '../system/servers.js';
import type { Counters, Subject } from './subject.js';

export interface MeasurementOptions {
  kind: LoadKind;
  connections: number;
  /** Default: one busy channel. */
  population?: LoadPopulation | undefined;
  warmUpSeconds: number;
  seconds: number;
}

export interface Measurement {
  /** Successful responses. */
  perSecond: number;
  /** Acknowledged by the stream. Undefined if the subject publishes nothing. */
  publishedPerSecond: number | undefined;
  /** Successful responses per batch. Undefined as above. */
  eventsPerBatch: number | undefined;
  latencyMs: LoadCounts['latencyMs'];
  failed: Record<string, number>;
  /** Per event, by process. */
  cpuMicroseconds: Record<string, number>;
}

/** Runs a load on a subject. Counts start after the warm-up. */
export async function measure(
  subject: Subject,
  servers: Servers,
  options: MeasurementOptions,
): Promise<Measurement> {
  const load = startSubjectLoad(subject, options);
  await wait(options.warmUpSeconds * 1_000);
  const readCpu = cpuReader({ pids: subject.pids, servers, load });
  await load.takeCounts();
  const [cpuBefore, countersBefore] = [readCpu(), await subject.readCounters?.()];
  await wait(options.seconds * 1_000);
  const counts = await load.takeCounts();
  const [cpuAfter, countersAfter] = [readCpu(), await subject.readCounters?.()];
  await load.stop();
  const difference = (name: keyof Counters): number | undefined =>
    countersBefore && countersAfter && countersAfter[name] - countersBefore[name];
  const [published, batches] = [difference('published'), difference('batches')];
  return {
    perSecond: counts.succeeded / counts.seconds,
    publishedPerSecond: published === undefined ? undefined : published / counts.seconds,
    eventsPerBatch: batches === undefined ? undefined : counts.succeeded / batches,
    latencyMs: counts.latencyMs,
    failed: counts.failed,
    cpuMicroseconds: cpuMicrosecondsPer(counts.succeeded, cpuBefore, cpuAfter),
  };
}

/** Memory of each process in MiB, at one moment of a long load. */
export interface MemorySample {
  second: number;
  perSecond: number;
  megabytes: Record<string, number>;
}

export async function watchMemory(
  subject: Subject,
  servers: Servers,
  options: MeasurementOptions & { everySeconds: number; onSample: (sample: MemorySample) => void },
): Promise<MemorySample[]> {
  const load = startSubjectLoad(subject, options);
  await wait(options.warmUpSeconds * 1_000);
  await load.takeCounts();
  const samples: MemorySample[] = [];
  const startedAt = performance.now();
  while (performance.now() - startedAt < options.seconds * 1_000) {
    await wait(options.everySeconds * 1_000);
    const { succeeded, seconds } = await load.takeCounts();
    const sample = {
      second: Math.round((performance.now() - startedAt) / 1_000),
      perSecond: succeeded / seconds,
      megabytes: readMemory(subject, servers),
    };
    samples.push(sample);
    options.onSample(sample);
  }
  await load.stop();
  return samples;
}

function startSubjectLoad(subject: Subject, { kind, connections, population }: MeasurementOptions): Load {
  const { ports, webhookSecret, token } = subject;
  return startLoad({ kind, connections, population, ports, webhookSecret, token });
}

function readMemory(subject: Subject, servers: Servers): Record<string, number> {
  return {
    ...mapValues(subject.pids, (pids) => sum(pids.map(memoryMegabytes))),
    NATS: memoryMegabytes(servers.nats.pid),
    PostgreSQL: memoryMegabytesOfFamily(servers.postgres.pid),
  };
}

function mapValues<T>(values: Record<string, T>, map: (value: T) => number): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
