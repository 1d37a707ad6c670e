import { formatCount, table, type KeptPromise, type Section } from '../measure/report.js';
import type { ProfileShares } from '../measure/profile.js';
import { median } from '../measure/quantile.js';
import type { Measurement, MemorySample } from './measurement.js';
import type { SubjectName } from './subject.js';

export interface BenchmarkResults {
  cores: number;
  filledEvents: number;
  connections: number;
  notifications: Record<SubjectName, Measurement[]>;
  posts: Measurement[];
  memory: MemorySample[];
  profiles: Record<string, ProfileShares>;
}

const goals = { perSecond: 12_000, p99Ms: 25, ofCeiling: 0.5, postsPerSecond: 6_000, instancesFactor: 1.15 };

export function printSections(results: BenchmarkResults): Section[] {
  const { cores, notifications, posts } = results;
  const medians: Medians = {
    ceiling: medianOf(notifications.ceiling),
    one: medianOf(notifications['1 + 1']),
    two: medianOf(notifications['2 + 2']),
    post: medianOf(posts),
  };
  return [
    printMethod(results),
    printResults(notifications, medians),
    printTime(cores, medians, results.profiles),
    printMemory(results.memory),
  ];
}

/** The run with the median speed, for each subject. */
interface Medians {
  ceiling: Measurement;
  one: Measurement;
  two: Measurement;
  post: Measurement;
}

function printMethod({ connections, filledEvents }: BenchmarkResults): Section {
  return {
    title: 'What is measured',
    paragraphs: [
      `Signed notifications (channel follows, about 575 bytes) over ${connections} connections, each with one request in flight. Only a response with status 204 counts, because its event is committed with fsync. "Published" counts the events that the EVENTS stream acknowledged during the same time. The event store holds ${formatCount(filledEvents)} events before each run. Runs of the subjects alternate, and the figures are medians. On a shared machine, figures vary from day to day, so compare ratios.`,
      'The **ceiling** is one process of plain node:http that checks the same signature and writes with the same statement into the same tables and indexes. The ceiling has no framework and no NATS, and publishes nothing.',
    ],
    promises: [],
  };
}

function printResults(
  notifications: BenchmarkResults['notifications'],
  { ceiling, one, two, post }: Medians,
): Section {
  const ratios = notifications['1 + 1'].map(
    (run, index) => run.perSecond / (notifications.ceiling[index]?.perSecond ?? Number.NaN),
  );
  const instances = notifications['1 + 1'].map(
    (run, index) => serviceCpu(notifications['2 + 2'][index]) / serviceCpu(run),
  );
  return {
    title: 'Results',
    paragraphs: [
      table(
        ['subject', 'events/s', 'published/s', 'p99', 'CPU per event', 'failed'],
        [
          row('ceiling', ceiling),
          row('1 gateway + 1 events service', one),
          row('2 gateways + 2 events services', two),
          row('POST /platform-events, 1 + 1', post),
        ],
      ),
    ],
    promises: [
      atLeast(goals.perSecond, one.perSecond, (goal) => `≥ ${goal} notifications/s, committed and published`),
      atMost(goals.p99Ms, one.latencyMs.p99, (goal) => `p99 ≤ ${goal} ms`),
      atLeast(goals.ofCeiling, median(ratios), (goal) => `≥ ${goal} of the ceiling (median of ratios)`),
      atLeast(goals.postsPerSecond, post.perSecond, (goal) => `≥ ${goal} POST/s`),
      atMost(
        goals.instancesFactor,
        median(instances),
        (goal) => `CPU of services and servers per event, 2 + 2 ≤ ${goal} × 1 + 1 (median of ratios)`,
      ),
    ],
  };
}

function printTime(
  cores: number,
  { ceiling, one, two, post }: Medians,
  profiles: BenchmarkResults['profiles'],
): Section {
  const most = (measurement: Measurement): string => formatCount((cores * 1e6) / allCpu(measurement));
  return {
    title: 'Where the time goes',
    paragraphs: [
      `The machine has ${cores} cores, which provide ${formatCount(cores * 1e6)} µs of CPU time per second. At ${allCpu(one).toFixed(0)} µs per event, including ${(one.cpuMicroseconds.load ?? 0).toFixed(0)} µs for the load, the machine can handle at most ${most(one)} events/s. The ceiling needs ${allCpu(ceiling).toFixed(0)} µs per event, which allows at most ${most(ceiling)} events/s. The measured rates are lower, because processes also wait for the commit on disk, for other processes, or for other guests on the same hardware.`,
      'CPU time per event for each process, in microseconds, as counted by the kernel:',
      printCpu({ ceiling, '1 + 1': one, '2 + 2': two, 'POST, 1 + 1': post }),
      'The tables show the work inside the Node processes of 1 + 1, as shares of the V8 samples in which the process was not idle. Profiling slows the processes, so the figures above exclude this run. A write that wakes another process can include the wait for a core:',
      ...Object.entries(profiles).map(([app, shares]) => printProfile(app, shares)),
    ],
    promises: [],
  };
}

function printMemory(samples: readonly MemorySample[]): Section {
  const title = 'Memory under a long load';
  const last = samples.at(-1);
  if (!last) return { title, paragraphs: ['Not measured.'], promises: [] };
  const minute = (from: number, to: number): MemorySample[] =>
    samples.filter(({ second }) => second > from && second <= to);
  const columns: [string, MemorySample[]][] = [
    ['first minute', minute(0, 60)],
    ['middle minute', minute(last.second / 2 - 30, last.second / 2 + 30)],
    ['last minute', minute(last.second - 60, last.second)],
  ];
  const rows = Object.keys(last.megabytes).map((name) => [
    name,
    ...columns.map(([, minuteSamples]) =>
      median(minuteSamples.map(({ megabytes }) => megabytes[name] ?? Number.NaN)).toFixed(0),
    ),
  ]);
  const rate = median(samples.map(({ perSecond }) => perSecond));
  return {
    title,
    paragraphs: [
      `${last.second} seconds at ${formatCount(rate)} events/s (median). Private memory of each process in MiB, median per minute:`,
      table(['process', ...columns.map(([name]) => name)], rows),
    ],
    promises: [],
  };
}

function printCpu(subjects: Record<string, Measurement>): string {
  const processes = ['ceiling', 'gateway', 'events', 'NATS', 'PostgreSQL', 'load'];
  const cell = (microseconds: number | undefined): string => microseconds?.toFixed(0) ?? '';
  const rows = processes.map((name) => [
    name,
    ...Object.values(subjects).map(({ cpuMicroseconds }) => cell(cpuMicroseconds[name])),
  ]);
  const total = ['**all**', ...Object.values(subjects).map((subject) => cell(allCpu(subject)))];
  return table(['process', ...Object.keys(subjects)], [...rows, total]);
}

function printProfile(app: string, shares: ProfileShares): string {
  const rows = shares
    .filter(([, share]) => share >= 0.01)
    .map(([part, share]) => [part, `${(share * 100).toFixed(0)} %`]);
  return table([app, 'share'], rows);
}

function row(name: string, measurement: Measurement): string[] {
  const { perSecond, publishedPerSecond, latencyMs, failed } = measurement;
  const failures = Object.entries(failed).map(([status, count]) => `${count} × ${status}`);
  return [
    name,
    formatCount(perSecond),
    publishedPerSecond === undefined ? '' : formatCount(publishedPerSecond),
    `${latencyMs.p99.toFixed(1)} ms`,
    `${allCpu(measurement).toFixed(0)} µs`,
    failures.join(', ') || 'none',
  ];
}

function atLeast(goal: number, measured: number, print: (goal: string) => string): KeptPromise {
  return { promise: print(formatGoal(goal)), measured: formatMeasured(measured), isKept: measured >= goal };
}

function atMost(goal: number, measured: number, print: (goal: string) => string): KeptPromise {
  return { promise: print(formatGoal(goal)), measured: formatMeasured(measured), isKept: measured <= goal };
}

function formatGoal(goal: number): string {
  return goal.toLocaleString('en');
}

function formatMeasured(measured: number): string {
  return measured >= 100 ? formatCount(measured) : measured.toFixed(2);
}

/** Returns the run with the median speed. All figures of a row then come from one run. */
function medianOf(runs: readonly Measurement[]): Measurement {
  const sorted = [...runs].sort((a, b) => a.perSecond - b.perSecond);
  const middle = sorted[sorted.length >> 1];
  if (!middle) throw new Error('cannot take the median of zero runs');
  return middle;
}

function allCpu({ cpuMicroseconds }: Measurement): number {
  return Object.values(cpuMicroseconds).reduce((sum, microseconds) => sum + microseconds, 0);
}

/** CPU per event, without the load generator. */
function serviceCpu(measurement: Measurement | undefined): number {
  return measurement ? allCpu(measurement) - (measurement.cpuMicroseconds.load ?? 0) : Number.NaN;
}
