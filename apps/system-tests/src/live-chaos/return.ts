import { setTimeout as wait } from 'node:timers/promises';
import { say } from '../measure/progress.js';
import { formatCount, formatSeconds, type Section } from '../measure/report.js';
import { DirectPublisher } from '../system/direct-publisher.js';
import { totalOf } from '../fleet/fleet-messages.js';
import { filterKinds, makeBigEvent, makeSmallEvent, nowMicroseconds } from '../fleet/test-events.js';
import { printCounts, printFindings, type LiveBed } from './live-bed.js';

// Number of big events: 19 MB (18 MiB) in total. A gateway keeps 16 MiB of records in memory, so the big events push out the missed events.
const bigEvents = 300;
// Each of the two gateways may have one consumer for live events and four for older events.
const maxConsumers = 10;
const group = 'returning';
const batch = 100;
const pollMs = 50;

/** Disconnects clients, publishes more than the gateways keep in memory, and reconnects all clients together. */
export async function runReturn(live: LiveBed): Promise<Section> {
  const { crowd, bed, size } = live;
  // Give every client a filter. Without filters, the test would measure how fast gateways send gigabytes.
  const kinds = filterKinds.filter((kind) => kind !== 'none');
  await crowd.open(group, live.planClients(size.clients, kinds));
  await crowd.waitUntilReady(group);
  await crowd.close(group);
  await publishMissed(live);
  const consumersBefore = (await bed.stream.readState()).consumers;
  const polling = new AbortController();
  const most = countConsumers(live, polling.signal);
  const returnedAt = nowMicroseconds();
  await crowd.reopen(group);
  const { isSettled, counts } = await crowd.settle(group, { quietMs: 2_000, limitMs: 90_000 });
  polling.abort();
  const consumersMost = await most;
  const { received, endings } = totalOf(counts);
  const served = formatSeconds(((counts.at(-1)?.lastReceivedAt ?? Number.NaN) - returnedAt) / 1_000);
  say(`return: ${received} events in ${served}, at most ${consumersMost} consumers`);
  const judgement = await live.judge(crowd, group);
  const clients = formatCount(size.clients);
  return {
    title: 'A thousand clients reconnect at once',
    paragraphs: [
      `${clients} clients with four kinds of filters disconnect. ${formatCount(size.missedEvents)} small events and then ${formatCount(bigEvents)} events of 64 KiB are published, more than the gateways keep in memory. Then all clients connect at the same moment, to two gateways at random, with their last positions. The clients received ${formatCount(received)} events in ${served}; connections that ended meanwhile: ${printCounts(endings)}. The stream had ${consumersBefore} consumers before, and at most ${consumersMost} during the reconnection, sampled every ${pollMs} ms.`,
      ...printFindings(judgement),
    ],
    promises: [
      {
        promise: `${clients} clients that reconnect at once, with positions older than the gateways' memory, receive everything`,
        measured: `${formatCount(received)} events in ${served}, ${judgement.found} clients with findings`,
        isKept: isSettled && received > 0 && judgement.clients === size.clients && judgement.found === 0,
      },
      {
        promise: `The gateways need at most ${maxConsumers} consumers on the stream`,
        measured: `${consumersMost}`,
        isKept: consumersMost > 0 && consumersMost <= maxConsumers,
      },
    ],
  };
}

async function publishMissed({ bed, size }: LiveBed): Promise<void> {
  const publisher = await DirectPublisher.connect(bed.servers);
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
async function countConsumers({ bed }: LiveBed, signal: AbortSignal): Promise<number> {
  let most = 0;
  while (!signal.aborted) {
    most = Math.max(most, (await bed.stream.readState()).consumers);
    await wait(pollMs);
  }
  return most;
}
