import { cpus } from 'node:os';
import { atMost, formatCount, formatMs, table, type KeptPromise, type Section } from '../measure/report.js';
import { median } from '../measure/quantile.js';
import type { LivePlan, LiveRound } from './measurement.js';

export interface LiveResult {
  plan: LivePlan;
  rounds: readonly LiveRound[];
}

/** Parts that did not run are undefined. */
export interface LiveResults {
  maximum?: LiveResult;
  latency?: LiveResult;
  many?: LiveResult;
}

const goals = { latencyP99Ms: 50, manyP99Ms: 150 };

export function printSections({ maximum, latency, many }: LiveResults): Section[] {
  return [
    {
      title: 'What is measured',
      paragraphs: [
        `WebSocket clients in one process receive every event from one gateway: records of about 600 bytes. The figures are medians of the rounds. Everything shares ${cpus().length} cores: the gateway, the clients, the events service, the broker, the load, and PostgreSQL.`,
      ],
      promises: [promiseConnections([maximum, latency, many].flatMap((result) => result?.rounds ?? []))],
    },
    ...(maximum ? [printMaximum(maximum)] : []),
    ...(latency ? [printLatency(latency)] : []),
    ...(many ? [printMany(many)] : []),
  ];
}

function promiseConnections(rounds: readonly LiveRound[]): KeptPromise {
  const ended = rounds.reduce((sum, round) => sum + round.ended, 0);
  return {
    promise: 'The gateway disconnects no client',
    measured: formatCount(ended),
    isKept: ended === 0,
  };
}

function printMaximum({ plan, rounds }: LiveResult): Section {
  return {
    title: 'Maximum throughput',
    paragraphs: [
      `The publisher puts events on the stream as fast as the slowest of ${formatCount(plan.clients)} clients receives them, at most 256 events ahead, bypassing the API and the store. The gateway therefore always has events to deliver. It writes all events of one event-loop turn to a client together.`,
      table(
        ['messages/s', 'each round'],
        [
          [
            formatCount(median(rounds.map(rateOf))),
            rounds.map((round) => formatCount(rateOf(round))).join(', '),
          ],
        ],
      ),
      ...printCores(rounds),
    ],
    promises: [],
  };
}

function printLatency({ plan: { clients, eventsPerSecond = 0 }, rounds }: LiveResult): Section {
  return {
    title: `At ${eventsPerSecond} events per second`,
    paragraphs: [
      `Events take the whole path: webhook or API, store, stream, ${formatCount(clients)} clients. The table shows the milliseconds from sending the request, before the event is accepted, until each client has received the event:`,
      ...printLatencies(eventsPerSecond, rounds),
    ],
    promises: [
      promiseP99(
        `p99 from sending to delivery ≤ ${goals.latencyP99Ms} ms at ${eventsPerSecond} events per second`,
        goals.latencyP99Ms,
        rounds,
      ),
    ],
  };
}

function printMany({
  plan: { clients, eventsPerSecond = 0, filterEvery, sampleEvery },
  rounds,
}: LiveResult): Section {
  const kib = rounds.map(({ kibPerClient }) => kibPerClient);
  return {
    title: `${formatCount(clients)} clients`,
    paragraphs: [
      `This is the maximum number of clients that one gateway accepts. One in ${filterEvery} clients has its own filter: a list of event types that no other client uses and that matches every event. Events take the whole path. The table shows the milliseconds from sending the request until a client has received the event, for every ${sampleEvery}th message:`,
      ...printLatencies(eventsPerSecond, rounds),
      `The gateway’s private memory grows by ${median(kib).toFixed(1)} KiB per client, from before the first client connects until all clients are connected (each round: ${kib.map((each) => each.toFixed(1)).join(', ')}). Kernel buffers are not included.`,
    ],
    promises: [
      promiseP99(
        `p99 ≤ ${goals.manyP99Ms} ms with ${formatCount(clients)} clients at ${eventsPerSecond} events per second`,
        goals.manyP99Ms,
        rounds,
      ),
    ],
  };
}

function promiseP99(promise: string, goal: number, rounds: readonly LiveRound[]): KeptPromise {
  return atMost(promise, median(rounds.map(({ latencyMs }) => latencyMs.p99)), goal, formatMs);
}

function printLatencies(eventsPerSecond: number, rounds: readonly LiveRound[]): string[] {
  const middle = (read: (latency: LiveRound['latencyMs']) => number): string =>
    median(rounds.map(({ latencyMs }) => read(latencyMs))).toFixed(1);
  return [
    table(
      ['events/s sent', 'messages/s', 'p50', 'p99', 'maximum', 'p99 of each round'],
      [
        [
          formatCount(eventsPerSecond),
          formatCount(median(rounds.map(rateOf))),
          middle(({ p50 }) => p50),
          middle(({ p99 }) => p99),
          middle(({ max }) => max),
          rounds.map(({ latencyMs }) => latencyMs.p99.toFixed(1)).join(', '),
        ],
      ],
    ),
    ...printCores(rounds),
  ];
}

function printCores(rounds: readonly LiveRound[]): string[] {
  const names = Object.keys(rounds[0]?.cpuSeconds ?? {});
  return [
    'Cores that each process used (median):',
    table(
      ['process', 'cores'],
      names.map((name) => [
        name === 'load' ? 'clients' : name,
        median(rounds.map(({ cpuSeconds, seconds }) => (cpuSeconds[name] ?? 0) / seconds)).toFixed(2),
      ]),
    ),
  ];
}

function rateOf({ received, seconds }: LiveRound): number {
  return received / seconds;
}
