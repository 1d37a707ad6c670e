import { say } from '../measure/progress.js';
import { median, quantile } from '../measure/quantile.js';
import { formatCount, table, type Section } from '../measure/report.js';
import { portOf, withSystem, type BenchBed, type Version } from './bench-bed.js';
import { measurePages, medianRatio, medianRun, serviceCpu, type PageRun } from './page-run.js';
import { ListClient } from './list-client.js';
import type { ListQuery } from './list-query.js';
import { channelId, messageId, oldestOnly, rewardType, viewerId, viewerName } from './population.js';
import type { FilledStores } from './filled-stores.js';

const connections = 32;
const goals = { ratio: 1.2, oldestMs: 10 };

/** Compares stores with the same events in 2 and in 60 monthly partitions. */
export async function measurePartitionCounts({ versions, isQuick }: BenchBed): Promise<Section> {
  const [version] = versions;
  if (!version) throw new Error('there is no version to measure');
  const runs = { months_2: [] as PageRun[], months_60: [] as PageRun[] };
  for (let round = 1; round <= (isQuick ? 1 : 3); round += 1)
    for (const name of ['months_2', 'months_60'] as const) {
      const run = await measureStore(version, name, isQuick);
      runs[name].push(run);
      say(`${name}: ${run.perSecond.toFixed(0)} pages/s, ${serviceCpu(run).toFixed(0)} µs of CPU per page`);
    }
  const oldest = await measureOldest(version, isQuick ? 20 : 100);
  return print(runs, { oldest, events: version.stores.populationOf('months_60').events });
}

async function measureStore(
  version: Version,
  name: 'months_2' | 'months_60',
  isQuick: boolean,
): Promise<PageRun> {
  const { stores } = version;
  const population = stores.populationOf(name);
  return withSystem(version, await stores.databaseOf(name), (system) =>
    measurePages(system, stores.servers, { connections, population, isQuick }),
  );
}

/** Measures the time to find values whose only event is in the oldest of 60 partitions, in milliseconds. */
async function measureOldest(version: Version, samples: number): Promise<number[]> {
  const url = await version.stores.databaseOf('months_60');
  return withSystem(version, url, async (system) => {
    const client = new ListClient(portOf(system), system.token);
    const queries = oldestQueries(version.stores);
    const times: number[] = [];
    // Warm-up: the first requests open database connections and plan statements.
    for (let sample = -3; sample < samples; sample += 1)
      for (const query of queries) {
        const ms = await findOnly(client, query);
        if (sample >= 0) times.push(ms);
      }
    client.close();
    return times;
  });
}

/** Milliseconds until the client has the query's only event, possibly after several pages. */
async function findOnly(client: ListClient, query: ListQuery): Promise<number> {
  let page = await client.first(query);
  let total = page.ms;
  // A page's time budget can end before the scan reaches the oldest partition.
  while (page.events === 0 && page.next !== null) {
    page = await client.read(page.next);
    total += page.ms;
  }
  if (page.events !== 1)
    throw new Error(
      `${JSON.stringify(query)} has ${page.events} events instead of 1 (status ${page.status})`,
    );
  return total;
}

function oldestQueries(stores: FilledStores): ListQuery[] {
  const { channel, viewer } = oldestOnly(stores.populationOf('months_60'));
  const alone = [
    { broadcaster_user_id: channelId(channel) },
    { user_id: viewerId(viewer) },
    { user_name: viewerName(viewer) },
    { event_id: messageId(1) },
  ];
  return [...alone, ...alone.map((query) => ({ ...query, event_type: rewardType }))];
}

function print(
  runs: Record<'months_2' | 'months_60', PageRun[]>,
  { oldest, events }: { oldest: readonly number[]; events: number },
): Section {
  const ratio = medianRatio(runs.months_60.map(serviceCpu), runs.months_2.map(serviceCpu));
  const p99 = quantile(oldest, 0.99);
  const row = (months: number, run: PageRun): string[] => [
    String(months),
    formatCount(run.perSecond),
    `${run.latencyMs.p99.toFixed(1)} ms`,
    ...['PostgreSQL', 'gateway', 'events'].map(
      (role) => `${((run.cpuMicroseconds[role] ?? 0) / 1_000).toFixed(2)} ms`,
    ),
    `${(serviceCpu(run) / 1_000).toFixed(2)} ms`,
  ];
  return {
    title: 'Number of partitions',
    paragraphs: [
      `Two stores with ${formatCount(events)} events each, in 2 and in 60 monthly partitions. First pages are read over ${connections} connections, as above. Runs alternate, and CPU is per page:`,
      table(
        ['partitions', 'pages/s', 'p99', 'PostgreSQL', 'gateway', 'events', 'all CPU per page'],
        [row(2, medianRun(runs.months_2)), row(60, medianRun(runs.months_60))],
      ),
      `One client requests values whose only event is in the oldest of the 60 partitions (a channel, a viewer's id and name, an \`event_id\`; each alone and with its type): p50 ${median(oldest).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${Math.max(...oldest).toFixed(1)} ms.`,
    ],
    promises: [
      {
        promise: `CPU per page with 60 partitions ≤ ${goals.ratio} × the CPU with 2`,
        measured: `${ratio.toFixed(2)} ×`,
        isKept: ratio <= goals.ratio,
      },
      {
        promise: `a value whose only event is in the oldest of 60 partitions: p99 ≤ ${goals.oldestMs} ms`,
        measured: `${p99.toFixed(1)} ms`,
        isKept: p99 <= goals.oldestMs,
      },
    ],
  };
}
