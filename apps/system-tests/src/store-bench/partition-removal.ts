import { setTimeout as wait } from 'node:timers/promises';
import { startSubjectLoad } from '../bench/measurement.js';
import { subjectOf } from '../bench/subject.js';
import { countFailed, type LoadCounts } from '../load/response-counter.js';
import { say, waitFor } from '../measure/progress.js';
import { formatCount, formatMs, formatSeconds, table, type Section } from '../measure/report.js';
import type { BenchBed } from './filled-stores.js';
import { arrivalsPerSecond, pageLoad, startArrivals } from './pages.js';
import { monthsOf, rangesOf, type Population } from './population.js';

interface Counts {
  pages: LoadCounts;
  arrivals: LoadCounts;
}

const connections = 8;
const dayMs = 24 * 3_600_000;
const removalLimitMs = 120_000;
const goalMs = 1_000;

/** Drops the main store's oldest partition under load. Changes the store, so it runs after the other parts. */
export async function measurePartitionRemoval({ stores, isQuick }: BenchBed): Promise<Section> {
  const population = stores.populationOf('filled');
  const removal = await stores.withSystem('filled', async (system, url) => {
    const subject = subjectOf(system);
    const reading = startSubjectLoad(subject, pageLoad(population, connections));
    const arriving = startArrivals(subject, population);
    const take = async (): Promise<Counts> => ({
      pages: await reading.takeCounts(),
      arrivals: await arriving.takeCounts(),
    });
    await wait(isQuick ? 3_000 : 10_000);
    await take();
    await wait(isQuick ? 3_000 : 10_000);
    const before = await take();
    const startedAt = performance.now();
    // At startup, an events service removes expired partitions.
    const remover = await stores.startEventsService(url, {
      RETENTION_DAYS: String(retentionDays(population)),
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
    const during = await take();
    await Promise.all([reading.stop(), arriving.stop()]);
    await remover.stop();
    return { before, during, ms: removedAt === undefined ? undefined : removedAt - startedAt };
  });
  const events = rangesOf(population)[0]?.count ?? 0;
  say(`dropping the oldest partition: the longest request took ${longestOf(removal.during).toFixed(0)} ms`);
  return print({ ...removal, events });
}

/** Retention in days that expires exactly the oldest partition. */
function retentionDays(population: Population): number {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  return (today - (monthsOf(population)[0]?.to ?? 0)) / dayMs;
}

function print({
  events,
  ms,
  before,
  during,
}: {
  events: number;
  ms: number | undefined;
  before: Counts;
  during: Counts;
}): Section {
  const row = (name: string, counts: Counts): string[] => [
    name,
    ...[counts.pages, counts.arrivals].flatMap(({ succeeded, seconds, latencyMs }) => [
      formatCount(succeeded / seconds),
      formatMs(latencyMs.p99),
      formatMs(latencyMs.max),
    ]),
    formatCount(failedOf(counts)),
  ];
  return {
    title: 'Dropping the oldest partition',
    paragraphs: [
      `While ${connections} connections read first pages and ${arrivalsPerSecond} events per second arrive, a second events service starts with a \`RETENTION_DAYS\` value that expires the oldest partition (${formatCount(events)} events). This service detaches the partition concurrently and drops it. ${
        ms === undefined
          ? 'The partition was not dropped within two minutes.'
          : `The partition was dropped ${formatSeconds(ms)} after this service started.`
      }`,
      table(
        ['', 'pages/s', 'p99', 'longest page', 'events/s', 'p99', 'longest', 'failed'],
        [row('before', before), row('during the removal', during)],
      ),
    ],
    promises: [
      {
        promise: `dropping the oldest partition under load: no request takes more than ${formatSeconds(goalMs)}, and none fails`,
        measured:
          ms === undefined
            ? 'not dropped'
            : `longest ${longestOf(during).toFixed(0)} ms, ${failedOf(during)} failed`,
        isKept: ms !== undefined && longestOf(during) <= goalMs && failedOf(during) === 0,
      },
    ],
  };
}

function longestOf({ pages, arrivals }: Counts): number {
  return Math.max(pages.latencyMs.max, arrivals.latencyMs.max);
}

function failedOf({ pages, arrivals }: Counts): number {
  return countFailed(pages) + countFailed(arrivals);
}
