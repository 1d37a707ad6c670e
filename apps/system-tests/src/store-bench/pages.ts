import {
  measure,
  medianRatio,
  serviceCpu,
  startSubjectLoad,
  type Measurement,
} from '../bench/measurement.js';
import { printRun, runColumns } from '../bench/report.js';
import { subjectOf, type Subject } from '../bench/subject.js';
import type { Load } from '../load/load.js';
import { countFailed, type LoadCounts } from '../load/response-counter.js';
import { say } from '../measure/progress.js';
import { formatCount, formatMs, table, type Section } from '../measure/report.js';
import type { BenchBed, StoreName } from './filled-stores.js';
import { commonPaths } from './list-paths.js';
import { loadPopulationOf, type Population } from './population.js';

/** Events that arrive per second while clients read pages. */
export const arrivalsPerSecond = 500;

interface PageRun {
  pages: Measurement;
  /** Including the warm-up. */
  arrivals: LoadCounts;
}

const connectionCounts = [32, 64];

/** First pages for many clients on the main store. */
export async function measureFirstPages(bed: BenchBed): Promise<Section> {
  const runs = new Map<number, PageRun[]>(connectionCounts.map((connections) => [connections, []]));
  await repeat(bed, async () => {
    for (const [connections, done] of runs) done.push(await measurePages(bed, 'filled', connections));
  });
  const all = [...runs.values()].flat();
  const failed = all.reduce((sum, { pages, arrivals }) => sum + pages.failed + countFailed(arrivals), 0);
  return {
    title: 'First pages for many clients',
    paragraphs: [
      `Clients read first pages of 50 events, each connection with one request in flight. The requests rotate through 64 different filter sets: no filter, types, channels, viewers, rewards, raids, sources, and combinations with a type. Most filter sets match many events. Meanwhile ${arrivalsPerSecond} follows per second arrive by POST, spread evenly over the channels and viewers of the store. The figures are those of the median run.`,
      'CPU is the processor time of a process divided by the number of pages, including the work on the arriving events.',
      table(
        ['connections', 'pages/s', ...runColumns, 'p99 of storing'],
        [...runs].map(([connections, done]) => [
          String(connections),
          ...printRun(done.map(({ pages }) => pages)),
          formatMs(Math.max(...done.map(({ arrivals }) => arrivals.latencyMs.p99))),
        ]),
      ),
    ],
    promises: [
      {
        promise: 'no request of this load fails',
        measured: `${formatCount(failed)} failed`,
        isKept: failed === 0,
      },
    ],
  };
}

/** Compares stores with the same number of events in 2 and in 60 monthly partitions. */
export async function measurePartitionCounts(bed: BenchBed): Promise<Section> {
  const [connections = 0] = connectionCounts;
  const runs = { months_2: [] as Measurement[], months_60: [] as Measurement[] };
  await repeat(bed, async () => {
    for (const name of ['months_2', 'months_60'] as const)
      runs[name].push((await measurePages(bed, name, connections)).pages);
  });
  return {
    title: 'Number of partitions',
    paragraphs: [
      `Two stores with ${formatCount(bed.stores.populationOf('months_60').events)} events each, in 2 and in 60 monthly partitions. First pages are read over ${connections} connections, as above. Runs alternate, and CPU is per page:`,
      table(
        ['partitions', 'pages/s', ...runColumns],
        [
          ['2', ...printRun(runs.months_2)],
          ['60', ...printRun(runs.months_60)],
        ],
      ),
      `CPU per page with 60 partitions, divided by the CPU with 2, median of ratios: ${medianRatio(runs.months_60, runs.months_2, serviceCpu).toFixed(2)}.`,
    ],
    promises: [],
  };
}

async function repeat({ isQuick }: BenchBed, round: () => Promise<void>): Promise<void> {
  for (let number = 1; number <= (isQuick ? 1 : 3); number += 1) await round();
}

async function measurePages(
  { stores, isQuick }: BenchBed,
  store: StoreName,
  connections: number,
): Promise<PageRun> {
  const population = stores.populationOf(store);
  const run = await stores.withSystem(store, async (system) => {
    const subject = subjectOf(system);
    const arriving = startArrivals(subject, population);
    const pages = await measure(subject, stores.servers, {
      ...pageLoad(population, connections),
      // Warm-up: under load, V8 compiles hot code within a few seconds.
      ...(isQuick ? { warmUpSeconds: 3, seconds: 5 } : { warmUpSeconds: 6, seconds: 15 }),
    });
    const arrivals = await arriving.takeCounts();
    await arriving.stop();
    return { pages, arrivals };
  });
  const { perSecond, latencyMs } = run.pages;
  say(
    `first pages, ${store}, ${connections} connections: ${perSecond.toFixed(0)}/s, p99 ${latencyMs.p99.toFixed(1)} ms`,
  );
  return run;
}

/** Requests of first pages of 64 queries. */
export function pageLoad(population: Population, connections: number) {
  return { kind: 'lists', connections, paths: commonPaths(population) } as const;
}

/** Sends follows of the store's channels and viewers at a fixed rate. */
export function startArrivals(subject: Subject, population: Population): Load {
  return startSubjectLoad(subject, {
    kind: 'posts',
    connections: 64,
    perSecond: arrivalsPerSecond,
    population: loadPopulationOf(population),
  });
}
