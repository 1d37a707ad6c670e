import { randomUUID } from 'node:crypto';
import { summarizeStream } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { say } from '../measure/progress.js';
import { median, quantile } from '../measure/quantile.js';
import { formatCount, table, type Section } from '../measure/report.js';
import { withSystem, type BenchBed } from './bench-bed.js';
import { channelId, streamChannel, streamRange } from './population.js';

const goals = { firstMs: 300, savedMs: 10 };

/** Measures the summary of the stream with the most events: the first request, and requests for the saved summary. */
export async function measureStreamSummary({ versions, isQuick }: BenchBed): Promise<Section> {
  const [version] = versions;
  if (!version) throw new Error('there is no version to measure');
  const { stores } = version;
  const { from, to } = streamRange(stores.populationOf('filled'));
  const times = { first: [] as number[], saved: [] as number[] };
  const url = await stores.databaseOf('filled');
  const counts = await withSystem(version, url, async () => {
    const client = new RequestClient({
      urls: [stores.servers.nats.urlFor('gateway')],
      name: 'store-bench',
    });
    await client.connect();
    let events = 0;
    for (let round = 0; round < (isQuick ? 3 : 10); round += 1) {
      // A new id each time, so that no summary is saved yet.
      const request = {
        streamId: randomUUID(),
        channelId: channelId(streamChannel),
        startedAt: from,
        endedAt: to,
        limits: {},
      };
      for (let repeat = 0; repeat < 11; repeat += 1) {
        const sentAt = performance.now();
        const summary = await client.request(summarizeStream, request);
        (repeat === 0 ? times.first : times.saved).push(performance.now() - sentAt);
        events = summary.events;
      }
    }
    await client.close();
    return events;
  });
  say(
    `summary of ${counts} events: ${median(times.first).toFixed(0)} ms, then ${median(times.saved).toFixed(1)} ms`,
  );
  return print(counts, times);
}

function print(events: number, { first, saved }: { first: number[]; saved: number[] }): Section {
  const row = (name: string, times: readonly number[]): string[] => [
    name,
    ...[median(times), quantile(times, 0.99), Math.max(...times)].map((ms) => `${ms.toFixed(1)} ms`),
  ];
  return {
    title: 'Stream summary',
    paragraphs: [
      `The summary of an ended stream with ${formatCount(events)} events, requested from the events service over NATS as the gateway does. The service computes and saves the summary at the first request:`,
      table(['request', 'p50', 'p99', 'longest'], [row('first', first), row('saved', saved)]),
    ],
    promises: [
      atMost(`summary of a stream with ${formatCount(events)} events, first request`, first, goals.firstMs),
      atMost('summary once the stream has ended and the summary is saved', saved, goals.savedMs),
    ],
  };
}

function atMost(what: string, times: readonly number[], goal: number) {
  const p99 = quantile(times, 0.99);
  return { promise: `${what}: p99 ≤ ${goal} ms`, measured: `${p99.toFixed(1)} ms`, isKept: p99 <= goal };
}
