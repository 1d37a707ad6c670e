import { setTimeout as wait } from 'node:timers/promises';
import { startSubjectLoad } from '../bench/measurement.js';
import { subjectOf } from '../bench/subject.js';
import { countFailed } from '../load/response-counter.js';
import { say, waitFor } from '../measure/progress.js';
import { formatCount, formatSeconds, type Section } from '../measure/report.js';
import { disturb, printDisturbance } from './disturbance.js';
import type { BenchBed, FilledStores } from './filled-stores.js';
import { arrivalsPerSecond, pageLoad, startArrivals } from './pages.js';
import { monthsOf, rangesOf, type Population } from './population.js';

const connections = 8;
const dayMs = 24 * 3_600_000;
const removalLimitMs = 120_000;

/** Drops the main store's oldest partition under load. Changes the store, so it runs after the other parts. */
export async function measurePartitionRemoval({ stores, isQuick }: BenchBed): Promise<Section> {
  const population = stores.populationOf('filled');
  const { result: ms, disturbance } = await stores.withSystem('filled', (system, url) => {
    const loads = {
      pages: startSubjectLoad(subjectOf(system), pageLoad(population, connections)),
      events: startArrivals(subjectOf(system), population),
    };
    return disturb(loads, isQuick, () => removeOldest(stores, url, retentionDays(population)));
  });
  const during = Object.values(disturbance).map((counts) => counts.during);
  const longest = Math.max(...during.map(({ latencyMs }) => latencyMs.max));
  const failed = during.reduce((sum, counts) => sum + countFailed(counts), 0);
  say(`dropping the oldest partition: the longest request took ${longest.toFixed(0)} ms`);
  const time =
    ms === undefined ? 'not within the limit' : `${formatSeconds(ms)} after the start of this service`;
  return {
    title: 'Dropping the oldest partition',
    paragraphs: [
      `While ${connections} connections read first pages and ${arrivalsPerSecond} events per second arrive, a second events service starts with a \`RETENTION_DAYS\` value that expires the oldest partition (${formatCount(rangesOf(population)[0]?.count ?? 0)} events). This service detaches the partition concurrently and drops it. The partition was dropped: ${time}.`,
      printDisturbance(disturbance),
    ],
    promises: [
      {
        promise: 'no request fails while the oldest partition is dropped under load',
        measured: `dropped ${time}, longest ${longest.toFixed(0)} ms, ${failed} failed`,
        isKept: ms !== undefined && failed === 0,
      },
    ],
  };
}

/** Returns the milliseconds until a new events service has removed a partition, or undefined after the limit. */
async function removeOldest(
  stores: FilledStores,
  databaseUrl: string,
  retentionDays: number,
): Promise<number | undefined> {
  const startedAt = performance.now();
  // At startup, an events service removes expired partitions.
  const remover = await stores.startEventsService(databaseUrl, { RETENTION_DAYS: String(retentionDays) });
  const look = async (): Promise<number | undefined> => {
    const removed = await remover.events[0]?.metric('events_retention_partitions_total');
    return removed === 1 ? performance.now() - startedAt : undefined;
  };
  const ms = await waitFor(look, { limitMs: removalLimitMs, everyMs: 50 });
  // Continue after the drop: statements that were planned with the partition must also work without it.
  await wait(2_000);
  await remover.stop();
  return ms;
}

/** Retention in days that expires exactly the oldest partition. */
function retentionDays(population: Population): number {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  return (today - (monthsOf(population)[0]?.to ?? 0)) / dayMs;
}
