import { setTimeout as wait } from 'node:timers/promises';
import { check } from '../chaos/checker.js';
import { targetsOf, type FaultTarget } from '../chaos/fault-target.js';
import { countOutcomes } from '../chaos/ledger.js';
import { summarize } from '../chaos/report.js';
import { say } from '../measure/progress.js';
import { median, quantile } from '../measure/quantile.js';
import { formatCount, table, type Section } from '../measure/report.js';
import { totalOf, type FleetCounts } from '../fleet/fleet-messages.js';
import { printCounts, printFindings, type LiveBed } from './live-bed.js';
import { filterKinds, makeSmallEvent } from '../fleet/test-events.js';

// There are five kinds of filters, each with a fifth of the clients. By kind, the filters pass all events, or about 1/2, 1/10,
// 1/13 (on average), or 1/50. Together, the thousand clients receive about 34,000 events per second.
const eventsPerSecond = 100;
const group = 'chaos';

/** Restarts gateways and broker at random, and checks the deliveries to each of a thousand clients. */
export async function runChaos(live: LiveBed): Promise<Section> {
  const { crowd, history, size, bed } = live;
  await crowd.open(group, live.planClients(size.clients));
  await crowd.waitUntilReady(group);
  history.follow();
  const counts: FleetCounts[] = [];
  const { faults, sent } = await live.underLoad(
    { perSecond: eventsPerSecond, make: () => makeSmallEvent() },
    async (load) => {
      const suffered = await suffer(live, counts);
      await load.pause();
      return { faults: suffered, sent: load.takeEntries() };
    },
  );
  say(`chaos: ${JSON.stringify(countOutcomes(sent))}; waiting for all deliveries`);
  await bed.store.waitUntilPublished();
  const settled = await crowd.settle(group);
  await history.stopFollowing();
  const epochs = await history.read();
  const judgement = await live.judge(crowd, group);
  const listed = await bed.store.readNewEvents();
  const deadLetters = await bed.store.readDeadLetters();
  const findings = check({ sent, listed, deadLetters, published: epochs.at(-1)?.messages });
  const { accepted } = countOutcomes(sent);
  const { received, connections, endings, gaps, strange } = totalOf([...counts, ...settled.counts]);
  const perSecond = counts.map((second) => second.received);
  const restarts = sum(faults);
  return {
    title: 'Gateways and broker restarted at random',
    paragraphs: [
      `${formatCount(size.clients)} WebSocket clients run in one process. Each of five kinds of filters (${filterKinds.join(', ')}) is used by a fifth of the clients. Each client connects to one of two gateways at random. When disconnected, the client reconnects with its last position after a pause with jitter. For ${size.chaosSeconds} s, events flow through the webhook and the API, including test events, while gateways and broker get SIGTERM or SIGKILL at random and restart.`,
      table(
        ['', ''],
        [
          ...Object.entries(faults).map(([name, times]) => [name, formatCount(times)]),
          ['events accepted', formatCount(accepted)],
          ['deliveries', formatCount(received)],
          [
            'deliveries per second: median, maximum (catching up)',
            `${formatCount(median(perSecond))}, ${formatCount(quantile(perSecond, 1))}`,
          ],
          ['reconnections', formatCount(connections)],
          ['how connections ended', printCounts(endings)],
          ['epochs of the stream', formatCount(epochs.length)],
          ['gap messages to clients', printCounts(gaps)],
        ],
      ),
      'The deliveries of each client are compared with the stream, and the stream with the store. From its first position, a client must receive exactly the events that pass its filter, each once and in stream order. A gap message is allowed only where the epoch of the stream changed.',
      ...printFindings(judgement, [...summarize(findings), ...strange]),
    ],
    promises: [
      {
        promise: `${formatCount(size.clients)} clients with five kinds of filters, with gateways and broker restarting at random for ${size.chaosSeconds} s: each client receives exactly its events, once and in order, or an explicit gap where the stream lost its tail`,
        measured: `${formatCount(restarts)} restarts, ${formatCount(received)} deliveries, ${judgement.found} clients with findings, ${formatCount(sum(gaps))} gaps in ${epochs.length} epochs`,
        isKept:
          restarts > 0 && settled.isSettled && judgement.clients === size.clients && judgement.found === 0,
      },
      {
        promise: 'No client receives an event twice on one connection, or an unreadable message',
        measured: `${judgement.kinds.doubled ?? 0} doubled, ${strange.length} connections garbled`,
        isKept: (judgement.kinds.doubled ?? 0) === 0 && strange.length === 0,
      },
      {
        promise: 'Every accepted event is in the store and on the stream',
        measured: `${formatCount(accepted)} accepted, ${findings.length} findings`,
        isKept: accepted > 0 && findings.length === 0,
      },
    ],
  };
}

/** Causes faults in gateways and broker independently, so sometimes both are down. */
async function suffer({ bed, size, crowd }: LiveBed, counts: FleetCounts[]): Promise<Record<string, number>> {
  const { servers, system } = bed;
  const faults: Record<string, number> = {};
  const endsAt = performance.now() + size.chaosSeconds * 1_000;
  const gateways = targetsOf('gateway', servers, system).map((target, index) => ({
    name: `gateway ${index + 1}`,
    target,
  }));
  const broker = targetsOf('nats', servers, system).map((target) => ({ name: 'broker', target }));
  let isOver = false;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      await wait(1_000);
      const now = await crowd.takeCounts(group);
      counts.push(now);
      if (counts.length % 10 === 0)
        say(`chaos: ${now.received} deliveries per second to ${now.connected} clients`);
    }
  };
  const watching = watch();
  // Wait for both loops even if one fails: later parts need the restarted processes.
  const strikes = await Promise.allSettled([
    strike(gateways, { endsAt, pauseMs: [3_000, 9_000], awayMs: [0, 1_500], faults }),
    strike(broker, { endsAt, pauseMs: [6_000, 14_000], awayMs: [0, 2_500], faults }),
  ]);
  isOver = true;
  await watching;
  for (const result of strikes) if (result.status === 'rejected') throw result.reason;
  return faults;
}

interface Fate {
  endsAt: number;
  pauseMs: [number, number];
  awayMs: [number, number];
  faults: Record<string, number>;
}

/** Stops random targets with SIGTERM or SIGKILL and restarts them, until the time is up. */
async function strike(
  targets: readonly { name: string; target: FaultTarget }[],
  { endsAt, pauseMs, awayMs, faults }: Fate,
): Promise<void> {
  for (;;) {
    await wait(between(pauseMs));
    if (performance.now() >= endsAt) return;
    const chosen = targets[Math.floor(Math.random() * targets.length)];
    if (!chosen) return;
    const isKill = Math.random() < 0.5;
    const name = `${isKill ? 'SIGKILL' : 'SIGTERM'} of ${chosen.name}`;
    faults[name] = (faults[name] ?? 0) + 1;
    await (isKill ? chosen.target.kill() : chosen.target.stop());
    await wait(between(awayMs));
    await chosen.target.start();
    say(`chaos: ${name}, restarted`);
  }
}

function between([least, most]: [number, number]): number {
  return least + Math.random() * (most - least);
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
