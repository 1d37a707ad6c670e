import { execFileSync } from 'node:child_process';
import {
  formatMicroseconds,
  report,
  table,
  type KeptPromise,
  type SystemTest,
  type TestRun,
} from '../measure/report.js';
import { median } from '../measure/quantile.js';
import { judge, type Verdict } from './judge.js';
import { cpuOf, type Run } from './run.js';

export type PathName = 'webhook' | 'post' | 'pages' | 'live' | 'start';

/** The runs of a path, one per round. */
export interface Runs {
  own: Run[];
  baseline: Run[];
}

const test: SystemTest = {
  title: 'Compared with an earlier commit',
  command: 'bench:quick',
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

interface Judged extends Runs {
  path: PathName;
  verdict: Verdict;
}

export async function printComparison(
  comparisons: ReadonlyMap<PathName, Runs>,
  checkouts: Readonly<Record<keyof Runs, string>>,
  run: Omit<TestRun, 'sections'>,
): Promise<void> {
  const judged = [...comparisons].map(([path, { own, baseline }]) => ({
    path,
    own,
    baseline,
    verdict: judge({ own: own.map(cpuOf), baseline: baseline.map(cpuOf) }),
  }));
  const paragraphs = [
    `Commit ${describeCommit(checkouts.own)} compared with ${describeCommit(checkouts.baseline)}. CPU is the time of all services, PostgreSQL, and nats-server per message, event, page, or start, without the load. Figures are medians; "ratio" is the median of the ratios of all rounds. "Spread" is the factor by which two runs of the same commit differ, median. "Limit": 97 of 100 comparisons of a commit with itself give a ratio below this. A loss is a ratio of CPU above the limit and above 1.05.`,
    table(
      [
        'path',
        'pairs',
        'CPU',
        'before',
        'ratio',
        'spread',
        'limit',
        'rate',
        'before',
        'p99',
        'before',
        'failed',
      ],
      judged.map(row),
    ),
    'CPU by process, this commit and the earlier one:',
    table(['path', 'process', 'CPU', 'before', 'ratio'], judged.flatMap(rowsOfProcesses)),
  ];
  const section = { title: 'Paths', paragraphs, promises: judged.map(promise) };
  await report(test, { ...run, sections: [section] });
}

function promise({ path, verdict: { ratio, limit, isLoss } }: Judged): KeptPromise {
  return {
    promise: `no loss: ${units[path].work}`,
    measured: `${ratio.toFixed(3)} × the CPU per ${units[path].of}; limit ${Math.max(1.05, limit).toFixed(3)}`,
    isKept: !isLoss,
  };
}

function row({ path, own, baseline, verdict: { ratio, spread, limit } }: Judged): string[] {
  const both = (print: (side: readonly Run[]) => string): string[] => [print(own), print(baseline)];
  return [
    units[path].work,
    String(own.length),
    ...both((side) => formatMicroseconds(medianOf(side, cpuOf))),
    ratio.toFixed(3),
    spread.toFixed(3),
    limit.toFixed(3),
    ...both((side) => `${Number(medianOf(side, ({ perSecond }) => perSecond).toPrecision(3))}/s`),
    ...both((side) => `${Number(medianOf(side, ({ p99 }) => p99).toPrecision(3))} ms`),
    String([...own, ...baseline].reduce((sum, { failed }) => sum + failed, 0)),
  ];
}

function rowsOfProcesses({ path, own, baseline }: Judged): string[][] {
  return Object.keys(own[0]?.cpuMicroseconds ?? {}).map((name) => {
    const of = ({ cpuMicroseconds }: Run): number => cpuMicroseconds[name] ?? 0;
    const [now, before] = [medianOf(own, of), medianOf(baseline, of)];
    return [path, name, formatMicroseconds(now), formatMicroseconds(before), (now / before).toFixed(2)];
  });
}

function medianOf(runs: readonly Run[], value: (run: Run) => number): number {
  return median(runs.map(value));
}

/** The commit of a checkout, with `-dirty` if it has uncommitted changes. */
function describeCommit(checkout: string): string {
  const args = ['-C', checkout, 'describe', '--always', '--dirty', '--abbrev=8', '--exclude=*'];
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}
