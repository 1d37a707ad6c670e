import { setTimeout as wait } from 'node:timers/promises';
import { startLoad, type Load } from '../load/load.js';
import type { LoadRequests } from '../load/request-maker.js';
import { countFailed, type LoadCounts } from '../load/response-counter.js';
import { cpuMicrosecondsPer, cpuReader } from '../measure/cpu-by-role.js';
import { median, quantile } from '../measure/quantile.js';
import type { Servers } from '../system/servers.js';
import type { Counters, Subject } from './subject.js';

export interface Pace {
  warmUpSeconds: number;
  seconds: number;
}

/** A closed loop of requests. */
export type RequestLoad = Omit<LoadRequests, 'webhookSecret' | 'token'> & { connections: number };

export interface Measurement {
  /** Successful responses. */
  perSecond: number;
  /** Acknowledged by the stream. Undefined if the subject publishes nothing. */
  publishedPerSecond: number | undefined;
  /** Successful responses per batch. Undefined as above. */
  eventsPerBatch: number | undefined;
  latencyMs: LoadCounts['latencyMs'];
  failed: number;
  /** Per response, by process. */
  cpuMicroseconds: Record<string, number>;
}

/** Runs a load on a subject. Counts start after the warm-up. */
export async function measure(
  subject: Subject,
  servers: Servers,
  { warmUpSeconds, seconds, ...load }: RequestLoad & Pace,
): Promise<Measurement> {
  const running = startSubjectLoad(subject, load);
  await wait(warmUpSeconds * 1_000);
  const readCpu = cpuReader({ pids: subject.pids, servers, load: running });
  await running.takeCounts();
  const [cpuBefore, countersBefore] = [readCpu(), await subject.readCounters?.()];
  await wait(seconds * 1_000);
  const counts = await running.takeCounts();
  const [cpuAfter, countersAfter] = [readCpu(), await subject.readCounters?.()];
  await running.stop();
  const difference = (name: keyof Counters): number | undefined =>
    countersBefore && countersAfter && countersAfter[name] - countersBefore[name];
  const [published, batches] = [difference('published'), difference('batches')];
  return {
    perSecond: counts.succeeded / counts.seconds,
    publishedPerSecond: published === undefined ? undefined : published / counts.seconds,
    eventsPerBatch: batches === undefined ? undefined : counts.succeeded / batches,
    latencyMs: counts.latencyMs,
    failed: countFailed(counts),
    cpuMicroseconds: cpuMicrosecondsPer(counts.succeeded, cpuBefore, cpuAfter),
  };
}

/** Starts a load that sends to the subject: a closed loop, or an open one with `perSecond`. */
export function startSubjectLoad(
  { ports, webhookSecret, token }: Subject,
  load: RequestLoad & { perSecond?: number },
): Load {
  return startLoad({ ...load, ports, webhookSecret, token });
}

/** Returns the run with the median speed. All figures then come from one run. */
export function medianRun(runs: readonly Measurement[]): Measurement {
  // Of an even number of runs, the faster one of the middle.
  const middle = quantile(
    runs.map(({ perSecond }) => perSecond),
    0.5,
  );
  const run = runs.find(({ perSecond }) => perSecond === middle);
  if (!run) throw new Error('cannot take the median of zero runs');
  return run;
}

/** Median of the ratios between alternating runs. */
export function medianRatio(
  runs: readonly Measurement[],
  others: readonly Measurement[],
  valueOf: (run: Measurement) => number,
): number {
  return median(
    runs.map((run, index) => {
      const other = others[index];
      return other ? valueOf(run) / valueOf(other) : Number.NaN;
    }),
  );
}

/** CPU per response of services and servers, without the load generator, in microseconds. */
export function serviceCpu({ cpuMicroseconds }: Measurement): number {
  return Object.entries(cpuMicroseconds).reduce((sum, [role, cpu]) => sum + (role === 'load' ? 0 : cpu), 0);
}
