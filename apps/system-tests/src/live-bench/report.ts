import { cpus } from 'node:os';
import { formatCount, formatMs, table, type Section } from '../measure/report.js';
import { median } from '../measure/quantile.js';
import type { LivePlan, LiveRound } from './measurement.js';

export interface LiveResult {
  plan: LivePlan;
  rounds: readonly LiveRound[];
}

export function printMethod(): Section {
  return {
    title: 'What is measured',
    paragraphs: [
      `WebSocket clients in one process receive every event from one gateway: records of about 600 bytes. Everything shares ${cpus().length} cores: the gateway, the clients, the events service, the broker, the load, and PostgreSQL. Of 10,000 clients, as many as one gateway accepts, one in 5 has its own filter: a list of event types that no other client uses and that matches every event.`,
      'At a fixed rate, events take the whole path: webhook or API, store, stream, clients. Latencies are the time from sending the request until a client has received the event. The maximum rate bypasses the API and the store: the publisher puts events on the stream as fast as the slowest client receives them, at most 256 events ahead. The gateway writes all events of one event-loop turn to a client together.',
      'The memory is the growth of the gateway’s private memory per client, from before the first client connects until all clients are connected. Kernel buffers are not included.',
    ],
    promises: [],
  };
}

export function printResults(results: readonly LiveResult[]): Section {
  const ended = results.flatMap(({ rounds }) => rounds).reduce((sum, round) => sum + round.ended, 0);
  return {
    title: 'Results',
    paragraphs: [
      'Medians of the rounds, with the rate or the p99 of each round:',
      table(
        [
          ...['clients', 'events/s sent', 'messages/s', 'p50', 'p99', 'maximum', 'each round'],
          ...['cores of the gateway', 'cores of the clients', 'KiB per client'],
        ],
        results.map(row),
      ),
    ],
    promises: [
      {
        promise: 'The gateway disconnects no client',
        measured: formatCount(ended),
        isKept: ended === 0,
      },
    ],
  };
}

function row({ plan: { clients, eventsPerSecond }, rounds }: LiveResult): string[] {
  const isMaximum = eventsPerSecond === undefined;
  const rateOf = ({ received, seconds }: LiveRound): number => received / seconds;
  const middle = (valueOf: (round: LiveRound) => number): number => median(rounds.map(valueOf));
  const latency = (valueOf: (latencyMs: LiveRound['latencyMs']) => number): string =>
    isMaximum ? '' : formatMs(middle(({ latencyMs }) => valueOf(latencyMs)));
  const cores = (role: string): string =>
    middle(({ cpuSeconds, seconds }) => (cpuSeconds[role] ?? 0) / seconds).toFixed(2);
  return [
    formatCount(clients),
    isMaximum ? 'maximum' : formatCount(eventsPerSecond),
    formatCount(middle(rateOf)),
    latency(({ p50 }) => p50),
    latency(({ p99 }) => p99),
    latency(({ max }) => max),
    rounds
      .map((round) => (isMaximum ? formatCount(rateOf(round)) : round.latencyMs.p99.toFixed(1)))
      .join('; '),
    cores('gateway'),
    cores('load'),
    middle(({ kibPerClient }) => kibPerClient).toFixed(1),
  ];
}
