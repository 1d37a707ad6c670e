import {
  listEvents,
  type EventFilters,
  type ListEventsRequest,
  type ListPosition,
  type ReadLimits,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { NIL } from 'uuid';
import { say } from '../measure/progress.js';
import { median, quantile } from '../measure/quantile.js';
import { table, type Section } from '../measure/report.js';
import { withSystem, type BenchBed } from './bench-bed.js';
import { channelId, monthsOf, typeShares, viewerId, type Population } from './population.js';

const goalMs = 50;
const listLength = 100;
const pageSize = 50;

/** A token's limits, with or without a filter. */
interface LimitsCase {
  name: string;
  limits: ReadLimits;
  filters?: EventFilters;
}

interface Result {
  name: string;
  first: number[];
  deep: number[];
  /** Average events per page. */
  events: number;
}

/** Measures pages for tokens that are limited to 100 channels and 100 event types. */
export async function measureTokenLimits({ versions, isQuick }: BenchBed): Promise<Section> {
  const [version] = versions;
  if (!version) throw new Error('there is no version to measure');
  const { stores } = version;
  const population = stores.populationOf('filled');
  const url = await stores.databaseOf('filled');
  const results = await withSystem(version, url, async () => {
    const client = new RequestClient({ urls: [stores.servers.nats.urlFor('gateway')], name: 'store-bench' });
    await client.connect();
    try {
      return await measureCases(client, population, isQuick ? 8 : 60);
    } finally {
      await client.close();
    }
  });
  return print(results);
}

function casesOf({ channels, viewers }: Population): LimitsCase[] {
  const ranks = (first: number, count = listLength): string[] =>
    Array.from({ length: count }, (_, index) => channelId(first + index));
  const absent = (count: number): string[] => Array.from({ length: count }, (_, index) => `absent-${index}`);
  const types = [...new Set(typeShares.map(({ type }) => type))];
  const allTypes = [...types, ...absent(listLength - types.length)];
  const rareTypes = [...types.slice(-8), ...absent(listLength - 8)];
  const rareChannels = [...ranks(channels - 30, 30), ...absent(listLength - 30)];
  const busiest = { channelIds: ranks(0), eventTypes: allTypes };
  return [
    { name: 'the 100 channels with the most events, all types', limits: busiest },
    { name: 'the 100 channels with the fewest events, all types', limits: { ...busiest, channelIds: ranks(channels - 100) } }, // prettier-ignore
    { name: 'the 100 channels with the most events, rare types', limits: { ...busiest, eventTypes: rareTypes } }, // prettier-ignore
    { name: '30 channels with few events and 70 without, all types', limits: { ...busiest, channelIds: rareChannels } }, // prettier-ignore
    { name: '30 channels with few events and 70 without, rare types', limits: { channelIds: rareChannels, eventTypes: rareTypes } }, // prettier-ignore
    {
      name: '100 channels without events, all types',
      limits: { ...busiest, channelIds: absent(listLength) },
    },
    { name: '20 channels with few events', limits: { channelIds: ranks(channels - 20, 20) } },
    { name: 'all types', limits: { eventTypes: allTypes } },
    { name: 'rare types', limits: { eventTypes: rareTypes } },
    { name: 'the 100 channels with the most events, all types; a busy user', limits: busiest, filters: { userId: viewerId(0) } }, // prettier-ignore
    { name: 'the 100 channels with the most events, all types; a rare user', limits: busiest, filters: { userId: viewerId(viewers - 1) } }, // prettier-ignore
    { name: '30 channels with few events and 70 without, all types; a busy user', limits: { ...busiest, channelIds: rareChannels }, filters: { userId: viewerId(0) } }, // prettier-ignore
  ];
}

async function measureCases(
  client: RequestClient,
  population: Population,
  samples: number,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const { name, limits, filters = {} } of casesOf(population)) {
    const result: Result = { name, first: [], deep: [], events: 0 };
    const read = async (times: number[], position?: ListPosition): Promise<ListPosition | null> => {
      const request: ListEventsRequest = {
        filters,
        limits,
        pageSize,
        records: true,
        ...(position && { position }),
      };
      const sentAt = performance.now();
      const page = await client.request(listEvents, request);
      times.push(performance.now() - sentAt);
      result.events += countRecords(page.records) / samples / 4;
      return page.next;
    };
    // Warm-up: the first requests open database connections and plan the statements on each partition.
    for (let number = 0; number < 3; number += 1) await read([]);
    for (let number = 0; number < 2 * population.months; number += 1)
      await read([], randomPosition(population));
    result.events = 0;
    for (let sample = 0; sample < samples; sample += 1) {
      await read(result.first);
      let position: ListPosition | null = randomPosition(population);
      for (let page = 0; page < 3 && position; page += 1) position = await read(result.deep, position);
    }
    say(`token limits, ${name}: first ${printTimes(result.first)}, any depth ${printTimes(result.deep)}`);
    results.push(result);
  }
  return results;
}

function countRecords(records: Uint8Array): number {
  return (JSON.parse(Buffer.from(records).toString()) as unknown[]).length; // Safe cast: records are an array
}

/** Position just before a random time of the store. */
function randomPosition(population: Population): ListPosition {
  const from = monthsOf(population)[0]?.from ?? 0;
  const time = Math.floor(from + Math.random() * (population.until - from));
  const id = time.toString(16).padStart(12, '0');
  return {
    direction: 'older',
    id: `${id.slice(0, 8)}-${id.slice(8)}-7000-8000-${NIL.slice(24)}`,
    inclusive: false,
  };
}

function print(results: readonly Result[]): Section {
  const worst = results
    .map(({ name, first, deep }) => ({ name, p99: Math.max(quantile(first, 0.99), quantile(deep, 0.99)) }))
    .sort((one, other) => other.p99 - one.p99)[0] ?? { name: 'nothing', p99: Number.NaN };
  return {
    title: 'Limits of tokens',
    paragraphs: [
      `A token can be limited to ${listLength} channels and ${listLength} event types. One client reads pages of ${pageSize} events from the events service over NATS, as the gateway does for such tokens, without other load. "Any depth" starts at a random time and follows \`next\`. A page ends early, with a \`next\`, after about 30 ms:`,
      table(
        ['limits; filter', 'events per page', 'first page p50 / p99', 'any depth p50 / p99'],
        results.map(({ name, first, deep, events }) => [name, events.toFixed(0), printTimes(first), printTimes(deep)]), // prettier-ignore
      ),
    ],
    promises: [
      {
        promise: `pages within limits of ${listLength} channels × ${listLength} types: p99 ≤ ${goalMs} ms`,
        measured: `${worst.p99.toFixed(1)} ms (${worst.name})`,
        isKept: worst.p99 <= goalMs,
      },
    ],
  };
}

function printTimes(ms: readonly number[]): string {
  return `${median(ms).toFixed(1)} / ${quantile(ms, 0.99).toFixed(1)} ms`;
}
