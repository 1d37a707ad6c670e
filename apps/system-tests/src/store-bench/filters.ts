import { isJsonObject } from '@stream-events/contracts';
import { subjectOf } from '../bench/subject.js';
import { HttpConnection } from '../load/http-connection.js';
import { printGet } from '../load/request-maker.js';
import { say } from '../measure/progress.js';
import { median, quantile } from '../measure/quantile.js';
import { table, type KeptPromise, type Section } from '../measure/report.js';
import type { BenchBed } from './filled-stores.js';
import { pathOf, pathOfLink, type ListQuery } from './list-paths.js';
import {
  channelId,
  channelName,
  chatType,
  clientSource,
  messageId,
  timeAt,
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

/** A filter with ranked values, and a type that has values for it. Rank 0 has the most events. */
type RankedFilter = [name: string, valueOf: (rank: number) => string, ranks: number, type: string];

/** A case with its request durations in milliseconds, for the first page and at random depths. */
interface Result extends FilterCase {
  first: number[];
  deep: number[];
}

function filterCases({ channels, viewers, events }: Population): FilterCase[] {
  const ranked: RankedFilter[] = [
    ['broadcaster_user_id', channelId, channels, 'channel-follow'],
    ['user_id', viewerId, viewers, chatType],
    ['user_name', viewerName, viewers, chatType],
    ['reward_id', (rank) => rewardId(rank, rank % rewardsPerChannel), channels, rewardType],
    ['raid_from', channelName, channels, 'channel-raid'],
    ['raid_to', channelName, channels, 'channel-raid'],
    // A channel can be the broadcaster, the raiding channel, or the raided channel.
    ['channel_id', channelId, channels, 'channel-raid'],
  ];
  const plain: [Spread, ListQuery][] = [
    ['many', {}],
    ['many', { event_type: 'channel-follow' }],
    ['few', { event_type: 'channel-vip-add' }],
    ['absent', { event_type: 'no-such-type' }],
    ['many', { event_types: 'channel-follow,channel-cheer,channel-raid' }],
    ['few', { event_types: 'channel-vip-add,channel-warning-send,bot-command' }],
    ['many', { origin: 'platform' }],
    ['few', { origin: 'test' }],
    ['many', { event_source: 'PlatformSub' }],
    ['few', { event_source: clientSource }],
    ['absent', { event_id: 'no-such-id' }],
  ];
  const eventId = (sample: number): string => messageId(1 + ((sample * 7_919) % (events / 2)));
  return [
    ...plain.map(([spread, query]) => ({
      name: Object.entries(query).flat().join(' ') || 'none',
      spread,
      queryOf: () => query,
    })),
    { name: 'event_id', spread: 'few', queryOf: (sample) => ({ event_id: eventId(sample) }) },
    ...ranked.flatMap(casesOfRanks),
    ...casesWithoutIndex(),
  ];
}

/** The filter alone, and combined with the type. */
function casesOfRanks([name, valueOf, ranks, type]: RankedFilter): FilterCase[] {
  const fewRanks = Math.floor(ranks * 0.3);
  const rankOf: [Spread, (sample: number) => number][] = [
    ['many', (sample) => sample % 8],
    // 7,919 shares no factor with `fewRanks`, so all of these ranks occur.
    ['few', (sample) => ranks - 1 - ((sample * 7_919) % fewRanks)],
    ['absent', (sample) => ranks + 10 + sample],
  ];
  return rankOf.flatMap(([spread, rank]) =>
    [{}, { event_type: type }].map((rest: ListQuery) => ({
      name: [name, ...Object.keys(rest)].join(', '),
      spread,
      queryOf: (sample: number) => ({ [name]: valueOf(rank(sample)), ...rest }),
    })),
  );
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

/** Measures filters on the first page and at random depths, with one client. */
export async function measureFilters({ stores, isQuick }: BenchBed): Promise<Section> {
  const population = stores.populationOf('filled');
  const results = filterCases(population).map((filter): Result => ({ ...filter, first: [], deep: [] }));
  await stores.withSystem('filled', async (system) => {
    const { ports, token } = subjectOf(system);
    const connection = new HttpConnection(ports[0] ?? 0);
    const read = async ({ queryOf, first, deep }: Result, sample: number): Promise<void> => {
      const query = queryOf(sample);
      first.push((await readPage(connection, token, pathOf(query))).ms);
      // A page at a random time, and the next page.
      const until = new Date(timeAt(population, Math.random())).toISOString();
      let path: string | undefined = pathOf({ ...query, until });
      for (let page = 0; page < 2 && path !== undefined; page += 1) {
        const { ms, next } = await readPage(connection, token, path);
        deep.push(ms);
        path = next;
      }
    };
    // Warm-up: the first requests open database connections, plan statements, and run uncompiled code.
    for (const result of results)
      for (let sample = 0; sample < 3; sample += 1) await read({ ...result, first: [], deep: [] }, sample);
    for (const result of results)
      for (let sample = 0; sample < (isQuick ? 8 : 60); sample += 1) await read(result, sample);
    connection.close();
  });
  const all = results.flatMap(({ first, deep }) => [...first, ...deep]);
  say(`filters: ${all.length} pages, p50 and p99: ${printTimes(all)} ms`);
  return print(results);
}

/** Returns the milliseconds of the request, and the path of the next page. */
async function readPage(
  connection: HttpConnection,
  token: string,
  path: string,
): Promise<{ ms: number; next: string | undefined }> {
  const sentAt = performance.now();
  const { status, body } = await connection.request(printGet(path, token));
  const ms = performance.now() - sentAt;
  const page: unknown = JSON.parse(body.toString());
  if (status !== 200 || !isJsonObject(page)) throw new Error(`${path} returned ${status}`);
  return { ms, next: typeof page.next === 'string' ? pathOfLink(page.next) : undefined };
}

function print(results: readonly Result[]): Section {
  return {
    title: 'Filters',
    paragraphs: [
      'One client reads pages of 50 events, one after the other, without other load. Each filter has values with many events, with few events spread over all months, and values that do not occur. "No index" marks combinations that no single index serves; such a page ends early after about 30 ms. "Any depth" starts at a random time of the store (`until`), and follows `next`. Milliseconds include the client:',
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
