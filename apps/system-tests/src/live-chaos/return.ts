import { setTimeout as wait } from 'node:timers/promises';
import { say } from '../measure/progress.js';
import type { Section } from '../measure/report.js';
import { DirectPublisher } from '../system/direct-publisher.js';
import { totalOf, type Judgement } from '../fleet/fleet-messages.js';
import type { LiveBed } from './live-bed.js';
import { printReturn } from './return-report.js';
import { filterKinds, makeBigEvent, makeSmallEvent, nowMicroseconds } from '../fleet/test-events.js';

export interface ReturnResult {
  clients: number;
  missedEvents: number;
  /** Number of events that pushed the missed events out of the gateways' memory. */
  bigEvents: number;
  received: number;
  /** Time from the reconnect until the last client has the last event. */
  servedMs: number;
  /** Consumers on the stream: before the reconnect, and the maximum during the reconnect. */
  consumersBefore: number;
  consumersMost: number;
  endings: Record<string, number>;
  judgement: Judgement;
  isSettled: boolean;
}

// Number of big events: 19 MB (18 MiB) in total. A gateway keeps 16 MiB of records in memory, so the big events push out the missed events.
const bigEvents = 300;
const group = 'returning';
const batch = 100;
const pollMs = 50;

/** Disconnects clients, publishes more than the gateways keep in memory, and reconnects all clients together. */
export async function runReturn(bed: LiveBed): Promise<Section> {
  const { crowd, tap, size } = bed;
  // Give every client a filter. Without filters, the test would measure how fast gateways send gigabytes.
  const kinds = filterKinds.filter((kind) => kind !== 'none');
  await crowd.open(group, bed.planClients(size.clients, kinds));
  await crowd.waitUntilReady(group);
  await crowd.close(group);
  await publishMissed(bed);
  const consumersBefore = (await tap.readState()).consumers;
  const polling = new AbortController();
  const most = countConsumers(bed, polling.signal);
  const returnedAt = nowMicroseconds();
  await crowd.reopen(group);
  const { isSettled, counts } = await crowd.settle(group, { quietMs: 2_000, limitMs: 90_000 });
  polling.abort();
  const consumersMost = await most;
  const { received, endings } = totalOf(counts);
  const servedMs = ((counts.at(-1)?.lastReceivedAt ?? Number.NaN) - returnedAt) / 1_000;
  say(`return: ${received} events in ${Math.round(servedMs)} ms, at most ${consumersMost} consumers`);
  const judgement = await crowd.judge(group, await tap.readHistory());
  await crowd.drop(group);
  return printReturn({
    clients: size.clients,
    missedEvents: size.missedEvents,
    bigEvents,
    received,
    servedMs,
    consumersBefore,
    consumersMost,
    endings,
    judgement,
    isSettled,
  });
}

async function publishMissed({ servers, size }: LiveBed): Promise<void> {
  const publisher = await DirectPublisher.connect(servers);
  try {
    for (let count = 0; count < size.missedEvents; count += batch)
      await publisher.publish(Array.from({ length: batch }, () => makeSmallEvent()));
    for (let count = 0; count < bigEvents; count += batch)
      await publisher.publish(Array.from({ length: batch }, makeBigEvent));
  } finally {
    await publisher.close();
  }
}

/** Polls the stream until the signal. Returns the highest number of consumers. */
async function countConsumers({ tap }: LiveBed, signal: AbortSignal): Promise<number> {
  let most = 0;
  while (!signal.aborted) {
    most = Math.max(most, (await tap.readState()).consumers);
    await wait(pollMs);
  }
  return most;
}
