import { cpus } from 'node:os';
import { formatCount, formatMicroseconds, formatMs, table, type Section } from '../measure/report.js';
import { medianRatio, medianRun, serviceCpu, type Measurement } from './measurement.js';

/** Alternating runs by the name of the subject in the tables. */
export type Runs = Record<'ceiling' | '1 + 1' | '2 + 2' | 'POST, 1 + 1', Measurement[]>;

export function printMethod({
  connections,
  filledEvents,
}: {
  connections: number;
  filledEvents: number;
}): Section {
  return {
    title: 'What is measured',
    paragraphs: [
      `Signed notifications (channel follows, about 575 bytes) over ${connections} connections, each with one request in flight. Only a response with status 204 counts, because its event is committed with fsync. "Published" counts the events that the EVENTS stream acknowledged during the same time. The event store holds ${formatCount(filledEvents)} events before each run. Runs of the subjects alternate, and the figures are medians. On a shared machine, figures vary from day to day, so compare ratios.`,
      'The **ceiling** is one process of plain node:http that checks the same signature and writes with the same statement into the same tables and indexes. The ceiling has no framework and no NATS, and publishes nothing.',
    ],
    promises: [],
  };
}

export function printResults(runs: Runs): Section {
  const row = (name: string, measured: readonly Measurement[]): string[] => {
    const { perSecond, publishedPerSecond, latencyMs, failed, cpuMicroseconds } = medianRun(measured);
    return [
      name,
      formatCount(perSecond),
      publishedPerSecond === undefined ? '' : formatCount(publishedPerSecond),
      formatMs(latencyMs.p99),
      formatMicroseconds(sum(cpuMicroseconds)),
      failed === 0 ? 'none' : formatCount(failed),
    ];
  };
  return {
    title: 'Results',
    paragraphs: [
      table(
        ['subject', 'events/s', 'published/s', 'p99', 'CPU per event', 'failed'],
        [
          row('ceiling', runs.ceiling),
          row('1 gateway + 1 events service', runs['1 + 1']),
          row('2 gateways + 2 events services', runs['2 + 2']),
          row('POST /platform-events, 1 + 1', runs['POST, 1 + 1']),
        ],
      ),
      `Medians of ratios: 1 + 1 stores ${medianRatio(runs['1 + 1'], runs.ceiling, ({ perSecond }) => perSecond).toFixed(2)} × the events of the ceiling, and 2 + 2 needs ${medianRatio(runs['2 + 2'], runs['1 + 1'], serviceCpu).toFixed(2)} × the CPU of 1 + 1 per event.`,
    ],
    promises: [],
  };
}

export function printTime(runs: Runs): Section {
  const cores = cpus().length;
  const subjects = Object.entries(runs).map(([name, measured]) => [name, medianRun(measured)] as const);
  const most = ({ cpuMicroseconds }: Measurement): string =>
    formatCount((cores * 1e6) / sum(cpuMicroseconds));
  const [one, ceiling] = [medianRun(runs['1 + 1']), medianRun(runs.ceiling)];
  const cell = (microseconds: number | undefined): string => microseconds?.toFixed(0) ?? '';
  const processes = ['ceiling', 'gateway', 'events', 'NATS', 'PostgreSQL', 'load'];
  return {
    title: 'Where the time goes',
    paragraphs: [
      `The machine has ${cores} cores, which provide ${formatCount(cores * 1e6)} µs of CPU time per second. At ${cell(sum(one.cpuMicroseconds))} µs per event, including ${cell(one.cpuMicroseconds.load)} µs for the load, the machine can handle at most ${most(one)} events/s. The ceiling needs ${cell(sum(ceiling.cpuMicroseconds))} µs per event, which allows at most ${most(ceiling)} events/s. The measured rates are lower, because processes also wait for the commit on disk, for other processes, or for other guests on the same hardware.`,
      'CPU time per event for each process, in microseconds, as counted by the kernel:',
      table(
        ['process', ...subjects.map(([name]) => name)],
        [
          ...processes.map((process) => [
            process,
            ...subjects.map(([, { cpuMicroseconds }]) => cell(cpuMicroseconds[process])),
          ]),
          ['**all**', ...subjects.map(([, { cpuMicroseconds }]) => cell(sum(cpuMicroseconds)))],
        ],
      ),
    ],
    promises: [],
  };
}

const roles = ['PostgreSQL', 'gateway', 'events', 'NATS'];

/** Columns of `printRun`, after the column of the rate. */
export const runColumns = ['p50', 'p99', ...roles, 'all CPU'];

/** Rate, latency, and CPU per response of the median run. */
export function printRun(runs: readonly Measurement[]): string[] {
  const run = medianRun(runs);
  return [
    formatCount(run.perSecond),
    formatMs(run.latencyMs.p50),
    formatMs(run.latencyMs.p99),
    ...roles.map((role) => formatMicroseconds(run.cpuMicroseconds[role] ?? 0)),
    formatMicroseconds(serviceCpu(run)),
  ];
}

function sum(numbers: Readonly<Record<string, number>>): number {
  return Object.values(numbers).reduce((total, number) => total + number, 0);
}
