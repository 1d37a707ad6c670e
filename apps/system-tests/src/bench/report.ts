import { table } from '../measure/document.js';
import type { ProfileShares } from '../measure/profile.js';
import { median } from '../measure/quantile.js';
import type { Measurement, MemorySample } from './measurement.js';
import type { SubjectName } from './subject.js';

/** All that a benchmark has measured. */
export interface BenchmarkResults {
  machine: Record<string, string>;
  cores: number;
  date: string;
  filledEvents: number;
  connections: number;
  notifications: Record<SubjectName, Measurement[]>;
  posts: Measurement[];
  memory: MemorySample[];
  profiles: Record<string, ProfileShares>;
}

const goals = { perSecond: 12_000, p99Ms: 25, ofCeiling: 0.5, postsPerSecond: 6_000, instancesFactor: 1.15 };

/** Prints the results as `docs/benchmarks.md`. */
export function printReport(results: BenchmarkResults): string {
  const { machine, cores, notifications, posts } = results;
  const one = medianOf(notifications['1 + 1']);
  const two = medianOf(notifications['2 + 2']);
  const ceiling = medianOf(notifications.ceiling);
  const post = medianOf(posts);
  const ratios = notifications['1 + 1'].map(
    (run, index) => run.perSecond / (notifications.ceiling[index]?.perSecond ?? Number.NaN),
  );
  const instances = notifications['1 + 1'].map(
    (run, index) => serviceCpu(notifications['2 + 2'][index]) / serviceCpu(run),
  );
  return [
    '# Benchmarks',
    '',
    '<!-- Written by npm run bench: run it again instead of editing this. -->',
    '',
    `Measured on ${results.date} by \`npm run bench\`, which wrote this page. Everything, the load and the servers included,`,
    'shared the machine below; the figures are medians of alternating runs, and on a shared machine they vary from day to day:',
    'compare ratios.',
    '',
    table(['machine', ''], Object.entries(machine)),
    '',
    '## What is measured',
    '',
    `Signed notifications (channel follows, 575 bytes) over ${results.connections} connections with one request in flight each. An answer counts when`,
    'it is 204: the event is then committed with fsync on. Published is what the EVENTS stream has acknowledged in the same time.',
    `The event store holds ${results.filledEvents.toLocaleString('en')} events before each run. The **ceiling** is one process of plain node:http that checks the same`,
    'signature and writes by the very same statement into the same tables and indexes: no framework, no NATS, nothing published.',
    '',
    '## Results',
    '',
    table(
      ['subject', 'events/s', 'published/s', 'p99', 'CPU for one event', 'failed'],
      [
        row('ceiling', ceiling),
        row('1 gateway + 1 events service', one),
        row('2 gateways + 2 events services', two),
        row('POST /platform-events, 1 + 1', post),
      ],
    ),
    '',
    table(
      ['goal', 'measured', ''],
      [
        goal(
          `≥ ${goals.perSecond.toLocaleString('en')} notifications/s, committed and published`,
          one.perSecond,
          goals.perSecond,
          'at-least',
        ),
        goal(`p99 ≤ ${goals.p99Ms} ms`, one.latencyMs.p99, goals.p99Ms, 'at-most'),
        goal(
          `≥ ${goals.ofCeiling} of the ceiling (median of ratios)`,
          median(ratios),
          goals.ofCeiling,
          'at-least',
        ),
        goal(
          `≥ ${goals.postsPerSecond.toLocaleString('en')} POST/s`,
          post.perSecond,
          goals.postsPerSecond,
          'at-least',
        ),
        goal(
          `CPU of services and servers for one event, 2 + 2 ≤ ${goals.instancesFactor} × 1 + 1 (median of ratios)`,
          median(instances),
          goals.instancesFactor,
          'at-most',
        ),
      ],
    ),
    '',
    '## Where the time of one event goes',
    '',
    `The machine has ${cores.toLocaleString('en')} cores, which is ${(cores * 1e6).toLocaleString('en')} µs of CPU a second. With ${allCpu(one).toFixed(0)} µs for an event, the load's ${(one.cpuMicroseconds.load ?? 0).toFixed(0)} included, it`,
    `cannot do more than ${Math.round((cores * 1e6) / allCpu(one)).toLocaleString('en')} events/s, nor the ceiling, with ${allCpu(ceiling).toFixed(0)} µs, more than ${Math.round((cores * 1e6) / allCpu(ceiling)).toLocaleString('en')}. What is slower than that waits: for the`,
    'commit on the disk, for one another, or for other guests of the same hardware.',
    '',
    'CPU of each process for one event, in microseconds, from the process accounting of the kernel:',
    '',
    printCpu({ ceiling, '1 + 1': one, '2 + 2': two, 'POST, 1 + 1': post }),
    '',
    'Inside of the Node processes of 1 + 1, as shares of the samples of V8 in which a process was not idle (profiling slows them,',
    'so this run counts for nothing else; a write that wakes another process up may contain the wait for a core):',
    '',
    ...Object.entries(results.profiles).flatMap(([app, shares]) => [printProfile(app, shares), '']),
    '## Memory under a long load',
    '',
    ...printMemory(results.memory),
    '',
  ].join('\n');
}

function printMemory(samples: readonly MemorySample[]): string[] {
  const last = samples.at(-1);
  if (!last) return ['Not measured.'];
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
  return [
    `${last.second} seconds at ${Math.round(rate).toLocaleString('en')} events/s (median). MiB of memory that is a process's own, median of each minute:`,
    '',
    table(['process', ...columns.map(([name]) => name)], rows),
  ];
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
    Math.round(perSecond).toLocaleString('en'),
    publishedPerSecond === undefined ? '' : Math.round(publishedPerSecond).toLocaleString('en'),
    `${latencyMs.p99.toFixed(1)} ms`,
    `${allCpu(measurement).toFixed(0)} µs`,
    failures.join(', ') || 'none',
  ];
}

function goal(name: string, measured: number, wanted: number, kind: 'at-least' | 'at-most'): string[] {
  const isMet = kind === 'at-least' ? measured >= wanted : measured <= wanted;
  const text = measured >= 100 ? Math.round(measured).toLocaleString('en') : measured.toFixed(2);
  return [name, text, isMet ? 'met' : '**not met**'];
}

/** The run in the middle by speed; with its own latencies and CPU, so that all figures of a row belong together. */
function medianOf(runs: readonly Measurement[]): Measurement {
  const sorted = [...runs].sort((a, b) => a.perSecond - b.perSecond);
  const middle = sorted[sorted.length >> 1];
  if (!middle) throw new Error('nothing was measured');
  return middle;
}

function allCpu({ cpuMicroseconds }: Measurement): number {
  return Object.values(cpuMicroseconds).reduce((sum, microseconds) => sum + microseconds, 0);
}

/** Without the load, which does not belong to the service. */
function serviceCpu(measurement: Measurement | undefined): number {
  return measurement ? allCpu(measurement) - (measurement.cpuMicroseconds.load ?? 0) : Number.NaN;
}
