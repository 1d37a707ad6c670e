import { isJsonObject } from '@stream-events/contracts';
import { subjectOf } from '../bench/subject.js';
import { HttpConnection } from '../load/http-connection.js';
import { printGet } from '../load/request-maker.js';
import { say } from '../measure/progress.js';
import { median, quantile } from '../measure/quantile.js';
import { table, type KeptPromise, type Section } from '../measure/report.js';
import type { BenchBed } from './filled-stores.js';
import { pathOf, type ListQuery } from './list-paths.js';
import {
  channelId,
  channelName,
  chatType,
  clientSource,
  messageId,
  monthsOf,
  rewardId,
  rewardsPerChannel,
  rewardType,
  viewerId,
  viewerName,
  type Population,
} from './population.js';

/** How many events have the values, or that no single index serves the filters. */
type Spread = 'many' | 'few' | 'absent' | 'no index';

interface FilterCase {
  name: string;
  spread: Spread;
  /** @param sample counts from 0 */
  queryOf: (sample: number) => ListQuery;
}

/** A filter with ranked values. Rank 0 has the most events. */
interface RankedFilter {
  name: string;
  valueOf: (rank: number, sample: number) => string;
  ranks: number;
  /** An event type that has values for the filter. */
  type: string;
}

/** A case with its request durations in milliseconds, for the first page and at random depths. */
interface Result extends FilterCase {
  first: number[];
  deep: number[];
}

const manyRanks = 8;
const types = ['channel-follow', rewardType, 'channel-subscribe', 'channel-cheer', 'channel-raid'];
const rareTypes = [
  'channel-vip-add',
  'channel-moderator-add',
  'channel-warning-send',
  'bot-command',
  'channel-ban',
];

function filterCases(population: Population): FilterCase[] {
  const { channels, viewers, events, until } = population;
  const ranked: RankedFilter[] = [
    { name: 'broadcaster_user_id', valueOf: channelId, ranks: channels, type: 'channel-follow' },
    { name: 'user_id', valueOf: viewerId, ranks: viewers, type: chatType },
    { name: 'user_name', valueOf: viewerName, ranks: viewers, type: chatType },
    {
      name: 'reward_id',
      valueOf: (rank, sample) => rewardId(rank, sample % rewardsPerChannel),
      ranks: channels,
      type: rewardType,
    },
    { name: 'raid_from', valueOf: channelName, ranks: channels, type: 'channel-raid' },
    { name: 'raid_to', valueOf: channelName, ranks: channels, type: 'channel-raid' },
    // A channel can be the broadcaster, the raiding channel, or the raided channel.
    { name: 'channel_id', valueOf: channelId, ranks: channels, type: 'channel-raid' },
  ];
  const eventId = (sample: number): string => messageId(1 + ((sample * 7_919) % (events / 2)));
  const hoursAgo = (hours: number): string => new Date(until - hours * 3_600_000).toISOString();
  return [
    { name: 'none', spread: 'many', queryOf: () => ({}) },
    { name: 'since', spread: 'many', queryOf: (sample) => ({ since: hoursAgo(sample + 1) }) },
    ...casesOfValues('event_type', 'many', types),
    ...casesOfValues('event_type', 'few', rareTypes),
    ...casesOfValues('event_type', 'absent', ['no-such-type']),
    ...casesOfValues('event_types', 'many', [types.join(',')]),
    ...casesOfValues('event_types', 'few', [rareTypes.join(',')]),
    ...ranked.flatMap(casesOfRanks),
    ...casesOfValues('origin', 'many', ['platform']),
    ...casesOfValues('origin', 'few', ['test']),
    ...casesOfValues('event_source', 'many', ['PlatformSub']),
    ...casesOfValues('event_source', 'few', [clientSource, 'TestCall']),
    { name: 'event_id', spread: 'few', queryOf: (sample) => ({ event_id: eventId(sample) }) },
    { name: 'event_id', spread: 'absent', queryOf: (sample) => ({ event_id: `no-such-id-${sample}` }) },
    ...casesWithoutIndex(),
  ];
}

/**
 * Viewers and channels with different remainders never occur together (see `viewerGroups`). Channel 0 has 10 % of the events, and channels 1
 * and 2 have 2 to 3 % each. Viewers 0 to 3 have about 1 % each (more in a small store).
 */
function casesWithoutIndex(): FilterCase[] {
  const channel = (rank: number): ListQuery => ({ broadcaster_user_id: channelId(rank) });
  const user = (rank: number): ListQuery => ({ user_id: viewerId(rank) });
  const test = { origin: 'test' };
  const queries: [name: string, query: ListQuery][] = [
    ['channel and its most active viewer', { ...channel(1), ...user(1) }],
    ['channel and a viewer that is never in it', { ...channel(1), ...user(2) }],
    ['channel with 10 % and a viewer that is never in it', { ...channel(0), ...user(1) }],
    ['channel, viewer, and type', { ...channel(1), ...user(1), event_type: 'channel-follow' }],
    ['test and a viewer with some events', { ...test, ...user(400) }],
    ['channel with 10 % and test', { ...channel(0), ...test }],
    ['reward and a viewer', { reward_id: rewardId(1, 1), ...user(1) }],
    ['raid_from and raid_to', { raid_from: channelName(1), raid_to: channelName(5) }],
    ['PlatformSub and test, which never occur together', { event_source: 'PlatformSub', ...test }],
  ];
  return queries.map(([name, query]) => ({ name, spread: 'no index', queryOf: () => query }));
}

/** Samples rotate through the values. */
function casesOfValues(name: string, spread: Spread, values: readonly string[]): FilterCase[] {
  return [{ name, spread, queryOf: (sample) => ({ [name]: values[sample % values.length] ?? '' }) }];
}

/** The filter alone, and combined with the type. */
function casesOfRanks({ name, valueOf, ranks, type }: RankedFilter): FilterCase[] {
  const fewRanks = Math.floor(ranks * 0.3);
  const rankOf: [Spread, (sample: number) => number][] = [
    ['many', (sample) => sample % manyRanks],
    // 7,919 shares no factor with `fewRanks`, so all of these ranks occur.
    ['few', (sample) => ranks - 1 - ((sample * 7_919) % fewRanks)],
    ['absent', (sample) => ranks + 10 + sample],
  ];
  return rankOf.flatMap(([spread, rank]) => {
    const queryOf = (sample: number): ListQuery => ({ [name]: valueOf(rank(sample), sample) });
    return [
      { name, spread, queryOf },
      {
        name: `${name}, event_type`,
        spread,
        queryOf: (sample) => ({ ...queryOf(sample), event_type: type }),
      },
    ];
  });
}

/** Measures filters on the first page and at random depths, with one client. */
export async function measureFilters({ stores, isQuick }: BenchBed): Promise<Section> {
  const population = stores.populationOf('filled');
  const samples = isQuick ? 8 : 60;
  const results = filterCases(population).map((filter): Result => ({ ...filter, first: [], deep: [] }));
  await stores.withSystem('filled', async (system) => {
    const { ports, token } = subjectOf(system);
    const client = new ListClient(new HttpConnection(ports[0] ?? 0), token);
    const read = async ({ queryOf, first, deep }: Result, sample: number): Promise<void> => {
      first.push((await client.read(pathOf(queryOf(sample)))).ms);
      deep.push(...(await readDeep(client, queryOf(sample), population)));
    };
    // Warm-up: the first requests open database connections, plan statements, and run uncompiled code.
    for (const result of results)
      for (let sample = 0; sample < 3; sample += 1) await read({ ...result, first: [], deep: [] }, sample);
    for (const result of results)
      for (let sample = 0; sample < samples; sample += 1) await read(result, sample);
    client.close();
  });
  const all = results.flatMap(({ first, deep }) => [...first, ...deep]);
  say(
    `filters: ${all.length} pages, p50 ${median(all).toFixed(1)} ms, p99 ${quantile(all, 0.99).toFixed(1)} ms`,
  );
  return print(results);
}

/** Reads a page at a random time, then the next page, then back to the previous one. */
async function readDeep(client: ListClient, query: ListQuery, population: Population): Promise<number[]> {
  const from = monthsOf(population)[0]?.from ?? 0;
  const until = new Date(from + Math.random() * (population.until - from)).toISOString();
  const page = await client.read(pathOf({ ...query, until }));
  if (page.next === undefined) return [page.ms];
  const next = await client.read(page.next);
  if (next.previous === undefined) return [page.ms, next.ms];
  const previous = await client.read(next.previous);
  return [page.ms, next.ms, previous.ms];
}

class ListClient {
  constructor(
    private readonly connection: HttpConnection,
    private readonly token: string,
  ) {}

  close(): void {
    this.connection.close();
  }

  /** Returns the milliseconds of the request, and the paths of the neighboring pages. */
  async read(path: string): Promise<{ ms: number; next: string | undefined; previous: string | undefined }> {
    const sentAt = performance.now();
    const { status, body } = await this.connection.request(printGet(path, this.token));
    const ms = performance.now() - sentAt;
    const page: unknown = JSON.parse(body.toString());
    if (status !== 200 || !isJsonObject(page)) throw new Error(`${path} returned ${status}`);
    return { ms, next: pathOfLink(page.next), previous: pathOfLink(page.previous) };
  }
}

function pathOfLink(link: unknown): string | undefined {
  if (typeof link !== 'string') return undefined;
  const { pathname, search } = new URL(link);
  return pathname + search;
}

function print(results: readonly Result[]): Section {
  return {
    title: 'Filters',
    paragraphs: [
      'One client reads pages of 50 events, one after the other, without other load. Each filter has values with many events, with few events spread over all months, and values that do not occur. "No index" marks combinations that no single index serves; such a page ends early after about 30 ms. "Any depth" starts at a random time of the store (`until`), follows `next`, and then `previous`. Milliseconds include the client:',
      table(
        ['filter', 'events of the values', 'first page p50 / p99', 'any depth p50 / p99'],
        results.map(({ name, spread, first, deep }) => [name, spread, printTimes(first), printTimes(deep)]),
      ),
    ],
    promises: [
      judge('with an index', 20, results.filter(({ spread }) => spread !== 'no index')), // prettier-ignore
      judge('that no index serves', 50, results.filter(({ spread }) => spread === 'no index')), // prettier-ignore
    ],
  };
}

function judge(what: string, goalMs: number, results: readonly Result[]): KeptPromise {
  const p99Of = ({ first, deep }: Result): number => Math.max(quantile(first, 0.99), quantile(deep, 0.99));
  const worst = [...results].sort((one, other) => p99Of(other) - p99Of(one))[0];
  const p99 = worst ? p99Of(worst) : Number.NaN;
  return {
    promise: `filters ${what}: p99 ≤ ${goalMs} ms on the first page and at any depth`,
    measured: `${p99.toFixed(1)} ms (${worst?.name ?? 'nothing'})`,
    isKept: p99 <= goalMs,
  };
}

function printTimes(ms: readonly number[]): string {
  return `${median(ms).toFixed(1)} / ${quantile(ms, 0.99).toFixed(1)}`;
}
