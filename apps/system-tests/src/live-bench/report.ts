import { formatCount, table, type KeptPromise, type Section } from '../measure/report.js';
import { median } from '../measure/quantile.js';
import type { SubjectName } from './bench-bed.js';
import type { Measurement } from './measurement.js';

/** Rounds by subject. */
export type Rounds = Record<SubjectName, Measurement[]>;

/** Parts that did not run are undefined. */
export interface LiveBenchmarkResults {
  cores: number;
  clients: number;
  maximum: Rounds | undefined;
  /** Each event is published after all clients have received the previous one. */
  oneByOne: Rounds | undefined;
  /** Events at a fixed rate. */
  steady: { eventsPerSecond: number; rounds: Rounds } | undefined;
  /** As many clients as a gateway accepts, at a fixed rate. */
  many: { clients: number; filterEvery: number; eventsPerSecond: number; rounds: Rounds } | undefined;
  /** Each server at half of its own maximum rate. */
  half: { eventsPerSecond: Record<SubjectName, number>; rounds: Rounds } | undefined;
}

const goals = { ofBare: 0.6, perSecond: 100_000, p99Ms: 50, manyP99Ms: 150, kibPerClient: 20 };
const subjects = ['bare', 'gateway'] as const;

export function printSections(results: LiveBenchmarkResults): Section[] {
  const { maximum, oneByOne, steady, half, many } = results;
  return [
    { ...printMethod(results), promises: judge(results) },
    ...(maximum ? [printMaximum(maximum)] : []),
    ...(oneByOne ? [printOneByOne(oneByOne)] : []),
    ...(steady ? [printSteady(steady)] : []),
    ...(half ? [printHalf(half)] : []),
    ...(many ? [printMany(many)] : []),
  ];
}

function printMethod({ clients, cores }: LiveBenchmarkResults): Omit<Section, 'promises'> {
  return {
    title: 'What is measured',
    paragraphs: [
      `${formatCount(clients)} WebSocket clients in one process receive every event: records of about 600 bytes. The clients connect to one of two servers in alternating rounds. The figures are medians of the rounds:`,
      '- **gateway**: one gateway process, with tokens, filters, resuming, and bounded buffers\n- **bare**: one process that reads the same stream and calls `send` of `ws` for each client, without compression, and with each event converted to bytes once',
      `Everything shares ${cores} cores: the server under test, the clients, the broker, the load, PostgreSQL, and the other server, which reads the stream although it has no clients.`,
    ],
  };
}

function judge({ clients, maximum, oneByOne, steady, half, many }: LiveBenchmarkResults): KeptPromise[] {
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
        measured: formatCount(perSecond),
        isKept: perSecond >= goals.perSecond,
      },
    );
  }
  if (oneByOne) promises.push(promiseRatio('the same, one event at a time', oneByOne));
  if (steady) {
    const { p99 } = middle(steady.rounds.gateway).latencyMs;
    promises.push({
      promise: `p99 from accepted to delivered < ${goals.p99Ms} ms at ${steady.eventsPerSecond} events per second`,
      measured: `${p99.toFixed(1)} ms, including the request`,
      isKept: p99 < goals.p99Ms,
    });
  }
  if (many) promises.push(...judgeMany(many));
  const all = [maximum, oneByOne, steady?.rounds, half?.rounds, many?.rounds].flatMap(
    (rounds) => rounds?.gateway ?? [],
  );
  const ended = all.reduce((sum, round) => sum + round.ended, 0);
  promises.push({
    promise: 'The gateway disconnects no client',
    measured: formatCount(ended),
    isKept: ended === 0,
  });
  return promises;
}

function judgeMany({
  clients,
  eventsPerSecond,
  rounds,
}: NonNullable<LiveBenchmarkResults['many']>): KeptPromise[] {
  const { p99 } = middle(rounds.gateway).latencyMs;
  const kib = median(rounds.gateway.map(({ memoryPerClient }) => memoryPerClient));
  return [
    {
      promise: `p99 ≤ ${goals.manyP99Ms} ms with ${formatCount(clients)} clients at ${eventsPerSecond} events per second`,
      measured: `${p99.toFixed(1)} ms, including the request`,
      isKept: p99 <= goals.manyP99Ms,
    },
    {
      promise: `≤ ${goals.kibPerClient} KiB of the gateway’s memory for each of them`,
      measured: `${kib.toFixed(1)} KiB`,
      isKept: kib <= goals.kibPerClient,
    },
  ];
}

function promiseRatio(what: string, rounds: Rounds): KeptPromise {
  const ratio = middle(rounds.gateway).perSecond / middle(rounds.bare).perSecond;
  return {
    promise: `≥ ${goals.ofBare} of ${what}`,
    measured: ratio.toFixed(2),
    isKept: ratio >= goals.ofBare,
  };
}

function printMaximum(rounds: Rounds): Section {
  return {
    title: 'Maximum throughput',
    paragraphs: [
      'The publisher puts events on the stream as fast as the slowest client receives them, at most 256 events ahead, bypassing the API and the store. The servers therefore always have events to deliver. The gateway writes all events of one event-loop turn to a client together; the bare server writes each event separately.',
      ...printRates(rounds),
    ],
    promises: [],
  };
}

function printOneByOne(rounds: Rounds): Section {
  return {
    title: 'One event at a time',
    paragraphs: [
      'The publisher sends the next event when all clients have received the previous event, so the servers never have more than one event to deliver. The figures of both servers include the time of the publisher and the broker.',
      ...printRates(rounds),
    ],
    promises: [],
  };
}

function printRates(rounds: Rounds): string[] {
  return [
    table(
      ['', 'messages/s', 'each round'],
      subjects.map((subject) => [
        subject,
        formatCount(middle(rounds[subject]).perSecond),
        rounds[subject].map(({ perSecond }) => formatCount(perSecond)).join(', '),
      ]),
    ),
    ...printCores(rounds),
  ];
}

function printSteady({ eventsPerSecond, rounds }: NonNullable<LiveBenchmarkResults['steady']>): Section {
  return {
    title: `At ${eventsPerSecond} events per second`,
    paragraphs: [
      'Events take the whole path: webhook or API, store, stream, clients. The table shows the milliseconds from sending the request, before the event is accepted, until each client has received the event:',
      ...printLatencies(rounds, { bare: eventsPerSecond, gateway: eventsPerSecond }),
    ],
    promises: [],
  };
}

function printHalf({ eventsPerSecond, rounds }: NonNullable<LiveBenchmarkResults['half']>): Section {
  return {
    title: "At half of each server's maximum",
    paragraphs: [
      'Each server gets events at a steady rate: half of its own maximum. The publisher bypasses the API and the store, because they would limit the rate. The table shows the milliseconds from the publisher until a client has received the event, for every 17th message:',
      ...printLatencies(rounds, eventsPerSecond),
    ],
    promises: [],
  };
}

function printMany({
  clients,
  filterEvery,
  eventsPerSecond,
  rounds,
}: NonNullable<LiveBenchmarkResults['many']>): Section {
  return {
    title: `${formatCount(clients)} clients`,
    paragraphs: [
      `This is the maximum number of clients that one gateway accepts. One in ${filterEvery} clients has its own filter: a list of event types that no other client uses and that matches every event. Events take the whole path. The table shows the milliseconds from sending the request until a client has received the event, for every 17th message:`,
      ...printLatencies(rounds, { bare: eventsPerSecond, gateway: eventsPerSecond }),
      'The growth of the server’s private memory per client, from before the first client connects until all clients are connected. Kernel buffers are not included:',
      table(
        ['', 'KiB per client', 'each round'],
        subjects.map((subject) => {
          const each = rounds[subject].map(({ memoryPerClient }) => memoryPerClient);
          return [subject, median(each).toFixed(1), each.map((kib) => kib.toFixed(1)).join(', ')];
        }),
      ),
    ],
    promises: [],
  };
}

function printLatencies(rounds: Rounds, eventsPerSecond: Record<SubjectName, number>): string[] {
  return [
    table(
      ['', 'events/s sent', 'messages/s', 'p50', 'p99', 'maximum', 'p99 of each round'],
      subjects.map((subject) => {
        const { perSecond, latencyMs } = middle(rounds[subject]);
        return [
          subject,
          formatCount(eventsPerSecond[subject]),
          formatCount(perSecond),
          ...[latencyMs.p50, latencyMs.p99, latencyMs.max].map((ms) => ms.toFixed(1)),
          rounds[subject].map((round) => round.latencyMs.p99.toFixed(1)).join(', '),
        ];
      }),
    ),
    ...printCores(rounds),
  ];
}

function printCores(rounds: Rounds): string[] {
  const names = Object.keys(rounds.gateway[0]?.cores ?? {});
  return [
    'Cores that each process used (median), while the clients were connected to:',
    table(
      ['process', ...subjects],
      names.map((name) => [
        name === 'bare' ? 'bare server' : name,
        ...subjects.map((subject) => median(rounds[subject].map(({ cores }) => cores[name] ?? 0)).toFixed(2)),
      ]),
    ),
  ];
}

/** Medians over several rounds. */
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
