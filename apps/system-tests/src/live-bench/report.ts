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
  /** Each event alone, when all clients have the one before. */
  oneByOne: Rounds | undefined;
  /** At this many events a second. */
  steady: { eventsPerSecond: number; rounds: Rounds } | undefined;
  /** At half of its own maximum each. */
  half: { eventsPerSecond: Record<SubjectName, number>; rounds: Rounds } | undefined;
}

const goals = { ofBare: 0.6, perSecond: 100_000, p99Ms: 50 };
const subjects = ['bare', 'gateway'] as const;

/** Prints the results as `docs/live-benchmarks.md`. */
export function printReport(results: LiveBenchmarkResults): string {
  const { machine, cores, date, clients, maximum, oneByOne, steady, half } = results;
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
    ...(oneByOne ? printOneByOne(oneByOne) : []),
    ...(steady ? printSteady(steady) : []),
    ...(half ? printHalf(half) : []),
    '## Goals',
    '',
    printPromises([{ title: '', paragraphs: [], promises: judge(results) }]),
    '',
  ].join('\n');
}

/** What was wanted, and whether it is so. */
export function judge({ clients, maximum, oneByOne, steady, half }: LiveBenchmarkResults): KeptPromise[] {
  const promises: KeptPromise[] = [];
  if (maximum) {
    const { perSecond } = middle(maximum.gateway);
    promises.push(
      promiseRatio(
        `messages per second of a bare \`ws\` broadcast, ${formatCount(clients)} clients`,
        maximum,
      ),
      {
        promise: `≥ ${formatCount(goals.perSecond)} messages per second of one process`,
        measured: formatCount(Math.round(perSecond)),
        isKept: perSecond >= goals.perSecond,
      },
    );
  }
  if (oneByOne) promises.push(promiseRatio('the same, one event at a time', oneByOne));
  if (steady) {
    const { p99 } = middle(steady.rounds.gateway).latencyMs;
    promises.push({
      promise: `p99 from accepted to delivered < ${goals.p99Ms} ms at ${steady.eventsPerSecond} events a second`,
      measured: `${p99.toFixed(1)} ms, the request included`,
      isKept: p99 < goals.p99Ms,
    });
  }
  const all = [maximum, oneByOne, steady?.rounds, half?.rounds].flatMap((rounds) => rounds?.gateway ?? []);
  const ended = all.reduce((sum, round) => sum + round.ended, 0);
  promises.push({
    promise: 'No client of the gateway is cut',
    measured: formatCount(ended),
    isKept: ended === 0,
  });
  return promises;
}

function promiseRatio(what: string, rounds: Rounds): KeptPromise {
  const ratio = middle(rounds.gateway).perSecond / middle(rounds.bare).perSecond;
  return {
    promise: `≥ ${goals.ofBare} of ${what}`,
    measured: ratio.toFixed(2),
    isKept: ratio >= goals.ofBare,
  };
}

function printMaximum(rounds: Rounds): string[] {
  return [
    '## As many as possible',
    '',
    'Events are put on the stream as fast as the slowest client gets them, past the API and the store, and at most 256 ahead of',
    'it: there is always something to deliver. The gateway writes what comes in one turn of its loop as one piece to each',
    'client, `ws` one event at a time.',
    '',
    ...printRates(rounds),
  ];
}

function printOneByOne(rounds: Rounds): string[] {
  return [
    '## One event at a time',
    '',
    'The next event is put on the stream when all clients have the one before: there is never more than one to deliver, and the',
    'time of the publisher and the broker counts for both servers.',
    '',
    ...printRates(rounds),
  ];
}

function printRates(rounds: Rounds): string[] {
  return [
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

function printSteady({ eventsPerSecond, rounds }: NonNullable<LiveBenchmarkResults['steady']>): string[] {
  return [
    `## At ${eventsPerSecond} events a second`,
    '',
    'Events go the whole way: webhook and API, store, stream, clients. Milliseconds from the sending of the request, which is',
    'before the event is accepted, until each client has it:',
    '',
    ...printLatencies(rounds, { bare: eventsPerSecond, gateway: eventsPerSecond }),
  ];
}

function printHalf({ eventsPerSecond, rounds }: NonNullable<LiveBenchmarkResults['half']>): string[] {
  return [
    '## At half of its own maximum each',
    '',
    'Half of what each server delivered at most, at a steady rate, put on the stream past the API and the store, which would be',
    'the limit. Milliseconds from the publisher until a client has it, of every 17th message:',
    '',
    ...printLatencies(rounds, eventsPerSecond),
  ];
}

function printLatencies(rounds: Rounds, eventsPerSecond: Record<SubjectName, number>): string[] {
  return [
    table(
      ['', 'events/s wanted', 'messages/s', 'p50', 'p99', 'most', 'p99 of each round'],
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
