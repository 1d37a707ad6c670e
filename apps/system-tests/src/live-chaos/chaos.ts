import { setTimeout as wait } from 'node:timers/promises';
import { check, type Finding } from '../chaos/checker.js';
import { targetsOf, type FaultTarget } from '../chaos/fault-target.js';
import { countOutcomes } from '../chaos/ledger.js';
import { say } from '../measure/progress.js';
import type { Section } from '../measure/report.js';
import { printChaos } from './chaos-report.js';
import { totalOf, type FleetCounts, type Judgement } from '../fleet/fleet-messages.js';
import type { LiveBed } from './live-bed.js';
import { makeSmallEvent } from '../fleet/test-events.js';

export interface ChaosResult {
  seconds: number;
  clients: number;
  /** Faults by kind and target. */
  faults: Record<string, number>;
  accepted: number;
  /** Deliveries in each second of the run. */
  perSecond: number[];
  total: ReturnType<typeof totalOf>;
  epochs: number;
  judgement: Judgement;
  /** Differences between the sent events and those in the store and on the stream. */
  findings: Finding[];
  isSettled: boolean;
}

// There are five kinds of filters, each with a fifth of the clients. By kind, the filters pass all events, or about 1/2, 1/10,
// 1/13 (on average), or 1/50. Together, the thousand clients receive about 34,000 events per second.
const eventsPerSecond = 100;
const group = 'chaos';

/** Restarts gateways and broker at random, and checks the deliveries to each of a thousand clients. */
export async function runChaos(bed: LiveBed): Promise<Section> {
  const { crowd, tap, size } = bed;
  await crowd.open(group, bed.planClients(size.clients));
  await crowd.waitUntilReady(group);
  tap.follow();
  const counts: FleetCounts[] = [];
  const { faults, sent } = await bed.underLoad(
    { perSecond: eventsPerSecond, make: () => makeSmallEvent() },
    async (load) => {
      const suffered = await suffer(bed, counts);
      await load.pause();
      return { faults: suffered, sent: load.takeEntries() };
    },
  );
  say(`chaos: ${JSON.stringify(countOutcomes(sent))}; waiting for all deliveries`);
  await bed.waitUntilPublished();
  const settled = await crowd.settle(group);
  await tap.stopFollowing();
  const history = await tap.readHistory();
  const judgement = await crowd.judge(group, history);
  await crowd.drop(group);
  const listed = await bed.reader.readNewEvents();
  const deadLetters = await bed.reader.readDeadLetters();
  const published = await tap.readMessages();
  return printChaos({
    seconds: size.chaosSeconds,
    clients: size.clients,
    faults,
    accepted: countOutcomes(sent).accepted,
    perSecond: counts.map(({ received }) => received),
    total: totalOf([...counts, ...settled.counts]),
    epochs: history.length,
    judgement,
    findings: check({ sent, listed, deadLetters, published }),
    isSettled: settled.isSettled,
  });
}

/** Causes faults in gateways and broker independently, so sometimes both are down. */
async function suffer(bed: LiveBed, counts: FleetCounts[]): Promise<Record<string, number>> {
  const { servers, system, size } = bed;
  const faults: Record<string, number> = {};
  const endsAt = performance.now() + size.chaosSeconds * 1_000;
  const gateways = targetsOf('gateway', servers, system).map((target, index) => ({
    name: `gateway ${index + 1}`,
    target,
  }));
  const broker = targetsOf('nats', servers, system).map((target) => ({ name: 'broker', target }));
  const isOver = new AbortController();
  const watching = watch(bed, isOver.signal, counts);
  // Wait for both loops even if one fails: later parts need the restarted processes.
  const strikes = await Promise.allSettled([
    strike(gateways, { endsAt, pauseMs: [3_000, 9_000], awayMs: [0, 1_500], faults }),
    strike(broker, { endsAt, pauseMs: [6_000, 14_000], awayMs: [0, 2_500], faults }),
  ]);
  isOver.abort();
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

/** Records the counts every second until the signal. */
async function watch({ crowd }: LiveBed, signal: AbortSignal, counts: FleetCounts[]): Promise<void> {
  while (!signal.aborted) {
    await wait(1_000);
    const now = await crowd.takeCounts(group);
    counts.push(now);
    if (counts.length % 10 === 0)
      say(`chaos: ${now.received} deliveries per second to ${now.connected} clients`);
  }
}
