import { table } from '../measure/document.js';
import { formatCount, printPromises, type KeptPromise } from '../measure/promise.js';
import { median } from '../measure/quantile.js';
import type { SubjectName } from './bench-bed.js';
import type { Measurement } from './measurement.js';

/** The rounds of each subject. */
export type Rounds = Record<SubjectName, Measurement[]>;

/** All that a benchmark has measured; what was not measured is undefined. */
export interface LiveBenchmarkResults {
  machine: Record<string, string>;
  cores: number;
  date: string;
  clients: number;
  maximum: Rounds | undefined;
  /** At this many events a second. */
  steady: { eventsPerSecond: number; rounds: Rounds } | undefined;
  /** At half of its own maximum each. */
  half: { eventsPerSecond: Record<SubjectName, number>; rounds: Rounds } | undefined;
}

const goals = { ofBare: 0.6, perSecond: 100_000, p99Ms: 50 };
const subjects = ['bare', 'gateway'] as const;

/** Prints the results as `docs/live-benchmarks.md`. */
export function printReport(results: LiveBenchmarkResults): string {
  const { machine, cores, date, clients, maximum, steady, half } = results;
  return [
    '# Benchmarks of live delivery',
    '',
    '<!-- Written by npm run bench:live: run it again instead of editing this. -->',
    '',
    `Measured on ${date} by \`npm run bench:live\`, which wrote this page. Figures are medians of alternating rounds.`,
    '',
    table(['machine', ''], Object.entries(machine)),
    '',
    '## What is measured',
    '',
    `${formatCount(clients)} WebSocket clients in one process get every event: records of about 600 bytes. They connect to one of two`,
    'servers, round by round:',
    '',
    '- **gateway**: one process of ours, with tokens, filters, resuming and bounded clients',
    '- **bare**: one process that reads the same stream and calls `send` of `ws` for each client: no compression, and the',
    '  event converted to bytes once for all',
    '',
    `Everything shares ${cores} cores: the server that is measured, the clients, the broker, the load, PostgreSQL, and the`,
    'other of the two servers, which reads the stream though it has no clients. No server here has a core of its own.',
    '',
    ...(maximum ? printMaximum(maximum) : []),
    ...(steady
      ? printLatencies(`At ${steady.eventsPerSecond} events a second`, steady.rounds, {
          bare: steady.eventsPerSecond,
          gateway: steady.eventsPerSecond,
        })
      : []),
    ...(half ? printLatencies('At half of its own maximum each', half.rounds, half.eventsPerSecond) : []),
    '## Goals',
    '',
    printPromises([{ title: '', paragraphs: [], promises: judge(results) }]),
    '',
  ].join('\n');
}

/** What was wanted, and whether it is so. */
export function judge({ clients, maximum, steady, half }: LiveBenchmarkResults): KeptPromise[] {
  const promises: KeptPromise[] = [];
  if (maximum) {
    const perSecond = middle(maximum.gateway).perSecond;
    const ratio = perSecond / middle(maximum.bare).perSecond;
    promises.push(
      {
        promise: `≥ ${goals.ofBare} of the messages per second of a bare \`ws\` broadcast, ${formatCount(clients)} clients`,
        measured: ratio.toFixed(2),
        isKept: ratio >= goals.ofBare,
      },
      {
        promise: `≥ ${formatCount(goals.perSecond)} messages per second of one process`,
        measured: formatCount(Math.round(perSecond)),
        isKept: perSecond >= goals.perSecond,
      },
    );
  }
  if (steady) {
    const { p99 } = middle(steady.rounds.gateway).latencyMs;
    promises.push({
      promise: `p99 from accepted to delivered < ${goals.p99Ms} ms at ${steady.eventsPerSecond} events a second`,
      measured: `${p99.toFixed(1)} ms, the request included`,
      isKept: p99 < goals.p99Ms,
    });
  }
  const all = [maximum, steady?.rounds, half?.rounds].flatMap((rounds) => rounds?.gateway ?? []);
  const ended = all.reduce((sum, round) => sum + round.ended, 0);
  promises.push({
    promise: 'No client of the gateway is cut',
    measured: formatCount(ended),
    isKept: ended === 0,
  });
  return promises;
}

function printMaximum(rounds: Rounds): string[] {
  return [
    '## As many as possible',
    '',
    'Events are put on the stream as fast as the slowest client gets them, past the API and the store, and at most 256 ahead of',
    'it: there is always something to deliver. The gateway writes what comes in one turn of its loop as one piece to each',
    'client, `ws` one event at a time.',
    '',
    table(
      ['', 'messages/s', 'each round'],
      subjects.map((subject) => [
        subject,
        formatCount(Math.round(middle(rounds[subject]).perSecond)),
        rounds[subject].map(({ perSecond }) => formatCount(Math.round(perSecond))).join(', '),
      ]),
    ),
    '',
    ...printCores(rounds),
  ];
}

function printLatencies(
  title: string,
  rounds: Rounds,
  eventsPerSecond: Record<SubjectName, number>,
): string[] {
  return [
    `## ${title}`,
    '',
    'Events go the whole way: webhook and API, store, stream, clients. Milliseconds from the sending of the request, which is',
    'before the event is accepted, until each client has it:',
    '',
    table(
      ['', 'events/s', 'messages/s', 'p50', 'p99', 'most', 'p99 of each round'],
      subjects.map((subject) => {
        const { perSecond, latencyMs } = middle(rounds[subject]);
        return [
          subject,
          formatCount(Math.round(eventsPerSecond[subject])),
          formatCount(Math.round(perSecond)),
          ...[latencyMs.p50, latencyMs.p99, latencyMs.max].map((ms) => ms.toFixed(1)),
          rounds[subject].map((round) => round.latencyMs.p99.toFixed(1)).join(', '),
        ];
      }),
    ),
    '',
    ...printCores(rounds),
  ];
}

function printCores(rounds: Rounds): string[] {
  const names = Object.keys(rounds.gateway[0]?.cores ?? {});
  return [
    'Cores that each process kept busy (median), while the clients were at:',
    '',
    table(
      ['process', ...subjects],
      names.map((name) => [
        name === 'bare' ? 'bare server' : name,
        ...subjects.map((subject) => median(rounds[subject].map(({ cores }) => cores[name] ?? 0)).toFixed(2)),
      ]),
    ),
    '',
  ];
}

/** The medians of the figures of some rounds. */
export function middle(rounds: readonly Measurement[]): Pick<Measurement, 'perSecond' | 'latencyMs'> {
  const of = (read: (round: Measurement) => number): number => median(rounds.map(read));
  return {
    perSecond: of(({ perSecond }) => perSecond),
    latencyMs: {
      p50: of(({ latencyMs }) => latencyMs.p50),
      p99: of(({ latencyMs }) => latencyMs.p99),
      max: of(({ latencyMs }) => latencyMs.max),
    },
  };
}
