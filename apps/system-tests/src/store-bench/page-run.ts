import { setTimeout as wait } from 'node:timers/promises';
import { startLoadProcess, type Load } from '../load/load.js';
import type { LoadCounts } from '../load/response-counter.js';
import { cpuMicrosecondsPer, cpuReader } from '../measure/cpu-by-role.js';
import { median, quantile } from '../measure/quantile.js';
import type { Servers } from '../system/servers.js';
import type { System } from '../system/system.js';
import { portOf } from './bench-bed.js';
import type { PageLoadCounts, PageLoadOptions } from './page-load-generator.js';
import type { Population } from './population.js';

/** Events that arrive per second while clients read pages. */
export const arrivalsPerSecond = 500;

export interface PageRun {
  perSecond: number;
  latencyMs: LoadCounts['latencyMs'];
  /** Per page, by process. Includes the work on the arriving events. */
  cpuMicroseconds: Record<string, number>;
  failed: number;
  checked: number;
  outdated: number;
  arrivals: { perSecond: number; p99Ms: number; failed: number };
}

/** Reads first pages of 64 queries, while events arrive. */
export function startPageLoad(
  system: System,
  { connections, population }: { connections: number; population: Population },
): Load<PageLoadCounts> {
  return startLoadProcess(new URL('page-load-generator.js', import.meta.url), {
    port: portOf(system),
    token: system.token,
    connections,
    population,
    arrivalsPerSecond,
  } satisfies PageLoadOptions);
}

/** Reads first pages of 64 queries, and checks that they contain the newest acknowledged events. */
export async function measurePages(
  system: System,
  servers: Servers,
  options: { connections: number; population: Population; isQuick: boolean },
): Promise<PageRun> {
  const { connections, population, isQuick } = options;
  const [gateway, events] = [system.gateways, system.events].map((processes) =>
    processes.map(({ pid }) => pid),
  );
  const load = startPageLoad(system, { connections, population });
  // Warm-up: under load, V8 compiles hot code within a few seconds.
  await wait(isQuick ? 3_000 : 6_000);
  const readCpu = cpuReader({ pids: { gateway: gateway ?? [], events: events ?? [] }, servers, load });
  await load.takeCounts();
  const cpuBefore = readCpu();
  await wait(isQuick ? 5_000 : 15_000);
  const { pages, arrivals, checked, outdated } = await load.takeCounts();
  const cpuAfter = readCpu();
  await load.stop();
  return {
    perSecond: pages.succeeded / pages.seconds,
    latencyMs: pages.latencyMs,
    cpuMicroseconds: cpuMicrosecondsPer(pages.succeeded, cpuBefore, cpuAfter),
    failed: countFailed(pages),
    checked,
    outdated,
    arrivals: {
      perSecond: arrivals.succeeded / arrivals.seconds,
      p99Ms: arrivals.latencyMs.p99,
      failed: countFailed(arrivals),
    },
  };
}

/** Returns the run with the median speed. All figures then come from one run. */
export function medianRun<Run extends { perSecond: number }>(runs: readonly Run[]): Run {
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
export function medianRatio(runs: readonly number[], others: readonly number[]): number {
  return median(runs.map((value, index) => value / (others[index] ?? Number.NaN)));
}

/** CPU per unit of work, for services and servers, without the load generator. */
export function serviceCpu({ cpuMicroseconds }: { cpuMicroseconds: Record<string, number> }): number {
  return Object.entries(cpuMicroseconds).reduce((sum, [role, cpu]) => sum + (role === 'load' ? 0 : cpu), 0);
}

export function countFailed({ failed }: LoadCounts): number {
  return Object.values(failed).reduce((sum, count) => sum + count, 0);
}
