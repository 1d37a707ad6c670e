import { setTimeout as wait } from 'node:timers/promises';
import type { Load } from '../load/load.js';
import { countFailed, type LoadCounts } from '../load/response-counter.js';
import { formatCount, formatMs, table } from '../measure/report.js';

/** Counts of loads, by name, before and during the work that may disturb them. */
export type Disturbance = Record<string, { before: LoadCounts; during: LoadCounts }>;

/** Takes the counts of running loads before and during the work, and stops the loads. */
export async function disturb<T>(
  loads: Readonly<Record<string, Load>>,
  isQuick: boolean,
  work: () => Promise<T>,
): Promise<{ result: T; disturbance: Disturbance }> {
  const take = async (): Promise<Map<string, LoadCounts>> => {
    const counts = Object.entries(loads).map(
      async ([name, load]) => [name, await load.takeCounts()] as const,
    );
    return new Map(await Promise.all(counts));
  };
  // Warm-up: the first requests open database connections and run uncompiled code.
  await wait(isQuick ? 3_000 : 10_000);
  await take();
  await wait(isQuick ? 4_000 : 15_000);
  const before = await take();
  const result = await work();
  const disturbance: Disturbance = {};
  for (const [name, during] of await take())
    disturbance[name] = { before: before.get(name) ?? during, during };
  await Promise.all(Object.values(loads).map((load) => load.stop()));
  return { result, disturbance };
}

export function printDisturbance(disturbance: Disturbance): string {
  const rows = Object.entries(disturbance).flatMap(([name, when]) =>
    (['before', 'during'] as const).map((key) => {
      const counts = when[key];
      return [
        `${name}, ${key}`,
        formatCount(counts.succeeded / counts.seconds),
        ...[counts.latencyMs.p50, counts.latencyMs.p99, counts.latencyMs.max].map(formatMs),
        formatCount(countFailed(counts)),
      ];
    }),
  );
  return table(['', 'per second', 'p50', 'p99', 'longest', 'failed'], rows);
}
