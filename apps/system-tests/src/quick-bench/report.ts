import { execFileSync } from 'node:child_process';
import { report, table, type KeptPromise, type Section, type SystemTest } from '../measure/report.js';
import { median } from '../measure/quantile.js';
import type { ServerAddresses } from '../system/servers.js';
import { judge, type Verdict } from './judge.js';
import { cpuOf, type Run } from './run.js';

export type PathName = 'webhook' | 'post' | 'pages' | 'live' | 'start';

/** The runs of a path, one per round. */
export interface Comparison {
  own: Run[];
  baseline: Run[];
}

interface ComparedRun {
  servers: ServerAddresses;
  /** From `performance.now()`. */
  startedAt: number;
  /** Folder of the other checkout. */
  baseline: string;
  /** Whether all paths were measured. */
  isWhole: boolean;
}

const test: SystemTest = {
  title: 'Compared with an earlier commit',
  command: 'bench:quick',
  page: 'benchmarks.md',
  isPart: true,
  setting:
    'Both commits use the same PostgreSQL and nats-server, and take turns. Services, servers, and load share one machine.',
};

const units: Readonly<Record<PathName, { work: string; of: string }>> = {
  webhook: { work: 'signed platform messages over 64 connections', of: 'message' },
  post: { work: '`POST /platform-events` over 64 connections', of: 'event' },
  pages: { work: 'first pages of one event type over 64 connections', of: 'page' },
  live: { work: '500 WebSocket clients, 40 events/s', of: 'message to a client' },
  start: { work: 'start of all services, nothing to migrate', of: 'start' },
};

export async function printComparison(
  comparisons: ReadonlyMap<PathName, Comparison>,
  { servers, startedAt, baseline, isWhole }: ComparedRun,
): Promise<void> {
  const judged = [...comparisons].map(([path, comparison]) => ({
    path,
    comparison,
    verdict: judgeCpu(comparison),
  }));
  const paragraphs = [
    `Commit ${describeCommit('.')} compared with ${describeCommit(baseline)}. CPU is the time of all services, PostgreSQL, and nats-server per message, event, page, or start, without the load. Figures are medians; "ratio" is the median of the ratios of all rounds. "Same commit" is the largest factor by which two runs of one commit differed from one round to the next. A loss is a ratio of CPU above this factor and above 1.05.`,
    table(
      [
        'path',
        'rounds',
        'CPU',
        'before',
        'ratio',
        'same commit',
        'rate',
        'before',
        'p99',
        'before',
        'failed',
      ],
      judged.map(({ path, comparison, verdict }) => row(path, comparison, verdict)),
    ),
    'CPU by process, in microseconds, this commit and the earlier one:',
    table(
      ['path', 'process', 'CPU', 'before', 'ratio'],
      judged.flatMap(({ path, comparison }) => rowsOfProcesses(path, comparison)),
    ),
  ];
  const section: Section = { title: 'Paths', paragraphs, promises: judged.map(promise) };
  await report(test, { servers, startedAt, sections: [section], isWhole });
}

function judgeCpu({ own, baseline }: Comparison): Verdict {
  return judge({ own: own.map(cpuOf), baseline: baseline.map(cpuOf) });
}

function promise({ path, verdict }: { path: PathName; verdict: Verdict }): KeptPromise {
  const { ratio, noise, isLoss } = verdict;
  return {
    promise: `no loss: ${units[path].work}`,
    measured: `${ratio.toFixed(3)} × the CPU per ${units[path].of}; same commit ${noise.toFixed(3)}`,
    isKept: !isLoss,
  };
}

function row(path: PathName, { own, baseline }: Comparison, { ratio, noise }: Verdict): string[] {
  const both = (print: (runs: readonly Run[]) => string): string[] => [print(own), print(baseline)];
  return [
    units[path].work,
    String(own.length),
    ...both((runs) => formatMicroseconds(medianOf(runs, cpuOf))),
    ratio.toFixed(3),
    noise.toFixed(3),
    ...both((runs) => `${Number(medianOf(runs, ({ perSecond }) => perSecond).toPrecision(3))}/s`),
    ...both((runs) => `${Number(medianOf(runs, ({ p99 }) => p99).toPrecision(3))} ms`),
    String([...own, ...baseline].reduce((sum, { failed }) => sum + failed, 0)),
  ];
}

function rowsOfProcesses(path: PathName, { own, baseline }: Comparison): string[][] {
  return Object.keys(own[0]?.cpuMicroseconds ?? {}).map((name) => {
    const of = ({ cpuMicroseconds }: Run): number => cpuMicroseconds[name] ?? 0;
    const [now, before] = [medianOf(own, of), medianOf(baseline, of)];
    return [path, name, formatMicroseconds(now), formatMicroseconds(before), (now / before).toFixed(2)];
  });
}

function medianOf(runs: readonly Run[], value: (run: Run) => number): number {
  return median(runs.map(value));
}

function formatMicroseconds(microseconds: number): string {
  return microseconds >= 100_000
    ? `${(microseconds / 1e6).toFixed(2)} s`
    : `${microseconds.toFixed(microseconds < 100 ? 1 : 0)} µs`;
}

/** The commit of a checkout, with `-dirty` if it has uncommitted changes. */
function describeCommit(checkout: string): string {
  const args = ['-C', checkout, 'describe', '--always', '--dirty', '--abbrev=8', '--exclude=*'];
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}
