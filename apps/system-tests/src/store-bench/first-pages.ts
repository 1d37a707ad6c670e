import { say } from '../measure/progress.js';
import { formatCount, table, type KeptPromise, type Section } from '../measure/report.js';
import { withSystem, type BenchBed, type Version } from './bench-bed.js';
import {
  arrivalsPerSecond,
  measurePages,
  medianRatio,
  medianRun,
  serviceCpu,
  type PageRun,
} from './page-run.js';

const connectionCounts = [32, 64];
const goal = 4;

/** Runs of one version, all with the same number of connections. */
interface Runs {
  version: Version['name'];
  connections: number;
  runs: PageRun[];
}

/**
 * Measures first pages for many clients on the main store. Alternates the versions, so that other load on the machine affects all equally.
 */
export async function measureFirstPages({ versions, isQuick }: BenchBed): Promise<Section> {
  const results: Runs[] = connectionCounts.flatMap((connections) =>
    versions.map(({ name }) => ({ version: name, connections, runs: [] })),
  );
  for (let round = 1; round <= (isQuick ? 1 : 3); round += 1)
    for (const { version: name, connections, runs } of results) {
      const version = versions.find((one) => one.name === name);
      if (!version) continue;
      const url = await version.stores.databaseOf('filled');
      const population = version.stores.populationOf('filled');
      const run = await withSystem(version, url, (system) =>
        measurePages(system, version.stores.servers, { connections, population, isQuick }),
      );
      runs.push(run);
      say(
        `first pages, ${name}, ${connections} connections: ${run.perSecond.toFixed(0)}/s, p99 ${run.latencyMs.p99.toFixed(1)} ms, ${run.outdated} of ${run.checked} outdated`,
      );
    }
  return print(results);
}

function print(results: readonly Runs[]): Section {
  const rows = results.map(({ version, connections, runs }) => {
    const run = medianRun(runs);
    return [
      version,
      String(connections),
      formatCount(run.perSecond),
      `${run.latencyMs.p50.toFixed(1)} ms`,
      `${run.latencyMs.p99.toFixed(1)} ms`,
      ...['PostgreSQL', 'gateway', 'events', 'NATS'].map((role) => printMs(run.cpuMicroseconds[role])),
      printMs(serviceCpu(run)),
    ];
  });
  const arrivals = results.map(({ version, connections, runs }) => {
    const run = medianRun(runs);
    return [
      version,
      String(connections),
      formatCount(run.arrivals.perSecond),
      `${run.arrivals.p99Ms.toFixed(1)} ms`,
      formatCount(runs.reduce((sum, { failed, arrivals: { failed: lost } }) => sum + failed + lost, 0)),
      formatCount(runs.reduce((sum, { checked }) => sum + checked, 0)),
      formatCount(runs.reduce((sum, { outdated }) => sum + outdated, 0)),
    ];
  });
  return {
    title: 'First pages for many clients',
    paragraphs: [
      `Clients read first pages of 50 events, each connection with one request in flight. The requests rotate through 64 different filter sets: no filter, types, channels, viewers, rewards, raids, sources, and combinations with a type. Most filter sets match many events. Meanwhile ${arrivalsPerSecond} events per second arrive by POST, with the same distribution of channels and viewers as in the store. The figures are those of the median run.`,
      'CPU is the processor time of a process divided by the number of pages, including the work on the arriving events.',
      table(
        [
          'version',
          'connections',
          'pages/s',
          'p50',
          'p99',
          'PostgreSQL',
          'gateway',
          'events',
          'NATS',
          'all CPU per page',
        ],
        rows,
      ),
      'The load generator remembers which events were acknowledged before it sent a request, and looks for the newest five of these events that match the filter. A page is outdated if one of these events is missing, unless the page is full of newer events:',
      table(
        [
          'version',
          'connections',
          'events stored/s',
          'p99 of storing',
          'failed requests',
          'pages checked',
          'outdated pages',
        ],
        arrivals,
      ),
    ],
    promises: judge(results),
  };
}

function judge(results: readonly Runs[]): KeptPromise[] {
  const own = results.filter(({ version }) => version === 'this version');
  const all = own.flatMap(({ runs }) => runs);
  const checked = all.reduce((sum, run) => sum + run.checked, 0);
  const outdated = all.reduce((sum, run) => sum + run.outdated, 0);
  const failed = all.reduce((sum, run) => sum + run.failed + run.arrivals.failed, 0);
  return [
    ...own.flatMap(({ connections, runs }) => {
      const other = results.find((one) => one.version === 'baseline' && one.connections === connections);
      if (!other) return [];
      const ratio = medianRatio(
        runs.map(({ perSecond }) => perSecond),
        other.runs.map(({ perSecond }) => perSecond),
      );
      return {
        promise: `first pages with ${connections} connections: ≥ ${goal} × the baseline, median of alternating runs`,
        measured: `${ratio.toFixed(2)} ×`,
        isKept: ratio >= goal,
      };
    }),
    {
      promise: 'every first page contains all events that were acknowledged before its request',
      measured: `${formatCount(outdated)} of ${formatCount(checked)} pages are outdated`,
      isKept: outdated === 0 && checked > 0,
    },
    {
      promise: 'no request of this load fails',
      measured: `${formatCount(failed)} failed`,
      isKept: failed === 0,
    },
  ];
}

function printMs(microseconds = 0): string {
  return `${(microseconds / 1_000).toFixed(2)} ms`;
}
