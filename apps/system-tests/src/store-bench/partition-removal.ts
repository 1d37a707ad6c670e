import { setTimeout as wait } from 'node:timers/promises';
import { say, waitFor } from '../measure/progress.js';
import { formatCount, formatSeconds, table, type Section } from '../measure/report.js';
import { startSystem } from '../system/system.js';
import { withSystem, type BenchBed } from './bench-bed.js';
import type { PageLoadCounts } from './page-load-generator.js';
import { arrivalsPerSecond, countFailed, startPageLoad } from './page-run.js';
import { monthsOf, rangesOf, type Population } from './population.js';

interface Removal {
  events: number;
  /** Time until the partition was dropped. Undefined if the limit passed first. */
  seconds: number | undefined;
  before: PageLoadCounts;
  during: PageLoadCounts;
}

const connections = 8;
const dayMs = 24 * 3_600_000;
const removalLimitMs = 120_000;
const goalMs = 1_000;

/** Drops the main store's oldest partition under load. Changes the store, so it runs after the other parts. */
export async function measurePartitionRemoval({ versions, isQuick }: BenchBed): Promise<Section> {
  const [version] = versions;
  if (!version) throw new Error('there is no version to measure');
  const { stores } = version;
  const population = stores.populationOf('filled');
  const url = await stores.databaseOf('filled');
  const removal = await withSystem(version, url, async (system): Promise<Removal> => {
    const load = startPageLoad(system, { connections, population });
    await wait(isQuick ? 3_000 : 10_000);
    await load.takeCounts();
    await wait(isQuick ? 3_000 : 10_000);
    const before = await load.takeCounts();
    const startedAt = performance.now();
    // A second events service. At startup, it removes expired partitions.
    const remover = await startSystem(stores.servers, url, {
      gateways: 0,
      events: 1,
      checkout: stores.checkout,
      environment: { RETENTION_DAYS: String(retentionDays(population)) },
    });
    const removedAt = await waitFor(
      async () => {
        const removed = await remover.events[0]?.metric('events_retention_partitions_total');
        return removed === 1 ? performance.now() : undefined;
      },
      { limitMs: removalLimitMs, everyMs: 50 },
    );
    // Continue after the drop: statements that were planned with the partition must also work without it.
    await wait(2_000);
    const during = await load.takeCounts();
    await load.stop();
    await remover.stop();
    const seconds = removedAt === undefined ? undefined : (removedAt - startedAt) / 1_000;
    const events = rangesOf(population)[0]?.ranges.reduce((sum, { count }) => sum + count, 0) ?? 0;
    return { events, seconds, before, during };
  });
  say(`dropping the oldest partition: the longest request took ${longestOf(removal.during).toFixed(0)} ms`);
  return print(removal);
}

/** Retention in days that expires exactly the oldest partition. */
function retentionDays(population: Population): number {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  return (today - (monthsOf(population)[0]?.to ?? 0)) / dayMs;
}

function print({ events, seconds, before, during }: Removal): Section {
  const row = (name: string, { pages, arrivals, outdated }: PageLoadCounts): string[] => [
    name,
    formatCount(pages.succeeded / pages.seconds),
    `${pages.latencyMs.p99.toFixed(1)} ms`,
    `${pages.latencyMs.max.toFixed(0)} ms`,
    formatCount(arrivals.succeeded / arrivals.seconds),
    `${arrivals.latencyMs.p99.toFixed(1)} ms`,
    `${arrivals.latencyMs.max.toFixed(0)} ms`,
    formatCount(countFailed(pages) + countFailed(arrivals)),
    formatCount(outdated),
  ];
  const failed = countFailed(during.pages) + countFailed(during.arrivals);
  const longest = longestOf(during);
  return {
    title: 'Dropping the oldest partition',
    paragraphs: [
      `While ${connections} connections read first pages and ${arrivalsPerSecond} events per second arrive, a second events service starts with a \`RETENTION_DAYS\` value that expires the oldest partition (${formatCount(events)} events). This service detaches the partition concurrently and drops it. ${
        seconds === undefined
          ? 'The partition was not dropped within two minutes.'
          : `The partition was dropped ${formatSeconds(seconds * 1_000)} after this service started.`
      }`,
      table(
        ['', 'pages/s', 'p99', 'longest page', 'events/s', 'p99', 'longest', 'failed', 'outdated pages'],
        [row('before', before), row('during the removal', during)],
      ),
    ],
    promises: [
      {
        promise: `dropping the oldest partition under load: no request takes more than ${formatSeconds(goalMs)}, and none fails`,
        measured:
          seconds === undefined
            ? 'not dropped'
            : `longest ${longest.toFixed(0)} ms, ${formatCount(failed)} failed`,
        isKept: seconds !== undefined && longest <= goalMs && failed === 0,
      },
    ],
  };
}

function longestOf({ pages, arrivals }: PageLoadCounts): number {
  return Math.max(pages.latencyMs.max, arrivals.latencyMs.max);
}
