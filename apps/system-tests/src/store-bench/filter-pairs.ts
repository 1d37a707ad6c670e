import { say } from '../measure/progress.js';
import { median, quantile } from '../measure/quantile.js';
import { formatCount, table, type KeptPromise, type Section } from '../measure/report.js';
import { portOf, withSystem, type BenchBed, type Version } from './bench-bed.js';
import type { ListQuery } from './list-query.js';
import { ListClient } from './list-client.js';
import { channelId, channelName, clientSource, rewardId, viewerId, viewerName } from './population.js';

/** Two or three filters. No single index is enough for them. */
interface FilterPair {
  name: string;
  query: ListQuery;
  /** Whether each value matches at most 5 % of the events. */
  isSelective: boolean;
}

/** The pages of a list, up to a limit. */
interface Walk {
  ms: number[];
  events: number;
  emptyPages: number;
  isWhole: boolean;
  /** Status of the error that ended the list early. */
  refusedWith?: number;
}

interface Results {
  version: Version['name'];
  walks: Walk[];
}

const goals = { pageMs: 50, emptyPages: 20 };
const walkLimit = { quick: 30, whole: 150 };

// Viewers and channels with different remainders never occur together (see `viewerGroups`). Channel 0 has 10 % of the events, and channels
// 1 and 2 have 2 to 3 % each. Viewers 0 to 3 have about 1 % each (more in a small store). Tests have 0.4 %, and MyBot has 0.3 %.
const channel = (rank: number): ListQuery => ({ broadcaster_user_id: channelId(rank) });
const user = (rank: number): ListQuery => ({ user_id: viewerId(rank) });
const userName = (rank: number): ListQuery => ({ user_name: viewerName(rank) });
const test = { origin: 'test' };
const bot = { event_source: clientSource };
const platform = { event_source: 'PlatformSub' };

const pairs: readonly FilterPair[] = [
  { name: 'test and a viewer with many events', query: { ...test, ...user(1) }, isSelective: true },
  { name: 'test and a viewer with some events', query: { ...test, ...user(400) }, isSelective: true },
  { name: 'test and a channel', query: { ...test, ...channel(1) }, isSelective: true },
  { name: 'channel and its most active viewer', query: { ...channel(1), ...user(1) }, isSelective: true },
  {
    name: 'channel and a viewer with some events',
    query: { ...channel(1), ...user(401) },
    isSelective: true,
  },
  {
    name: 'channel and a viewer that is never in it',
    query: { ...channel(1), ...user(2) },
    isSelective: true,
  },
  {
    name: 'channel and a viewer name that is never in it',
    query: { ...channel(2), ...userName(1) },
    isSelective: true,
  },
  { name: 'bot and a channel', query: { ...bot, ...channel(2) }, isSelective: true },
  { name: 'bot and a viewer', query: { ...bot, ...user(0) }, isSelective: true },
  { name: 'bot and test, which never occur together', query: { ...bot, ...test }, isSelective: true },
  {
    name: 'reward and a viewer',
    query: { reward_id: rewardId(1, 1), ...user(1) },
    isSelective: true,
  },
  {
    name: 'reward and a viewer that is never in its channel',
    query: { reward_id: rewardId(1, 1), ...user(2) },
    isSelective: true,
  },
  {
    name: 'raid_from and raid_to',
    query: { raid_from: channelName(1), raid_to: channelName(5) },
    isSelective: true,
  },
  {
    name: 'channel, viewer, and type',
    query: { ...channel(1), ...user(1), event_type: 'channel-follow' },
    isSelective: true,
  },
  {
    name: 'channel with 10 % and a viewer that is never in it',
    query: { ...channel(0), ...user(1) },
    isSelective: false,
  },
  { name: 'channel with 10 % and test', query: { ...channel(0), ...test }, isSelective: false },
  {
    name: 'channel with 10 % and PlatformSub',
    query: { ...channel(0), ...platform },
    isSelective: false,
  },
  {
    name: 'PlatformSub and test, which never occur together',
    query: { ...platform, ...test },
    isSelective: false,
  },
  {
    name: 'origin platform and a viewer',
    query: { origin: 'platform', ...user(0) },
    isSelective: false,
  },
];

/** Measures pairs of filters with one client, which follows `next` from the first page. */
export async function measureFilterPairs({ versions, isQuick }: BenchBed): Promise<Section> {
  const results: Results[] = [];
  for (const version of versions) {
    const url = await version.stores.databaseOf('filled');
    const walks = await withSystem(version, url, async (system) => {
      const client = new ListClient(portOf(system), system.token);
      const limit = isQuick ? walkLimit.quick : walkLimit.whole;
      const done: Walk[] = [];
      // Warm-up: the first requests open database connections and plan statements.
      for (let round = 0; round < 3; round += 1) for (const { query } of pairs) await client.first(query);
      for (const { query } of pairs) done.push(await walk(client, query, limit));
      client.close();
      return done;
    });
    results.push({ version: version.name, walks });
    const all = walks.flatMap(({ ms }) => ms);
    say(
      `pairs, ${version.name}: ${all.length} pages, p50 ${median(all).toFixed(1)} ms, p99 ${quantile(all, 0.99).toFixed(1)} ms`,
    );
  }
  return print(results, isQuick ? walkLimit.quick : walkLimit.whole);
}

async function walk(client: ListClient, query: ListQuery, limit: number): Promise<Walk> {
  const result: Walk = { ms: [], events: 0, emptyPages: 0, isWhole: false };
  let page = await client.first(query);
  for (;;) {
    result.ms.push(page.ms);
    if (page.status !== 200) return { ...result, refusedWith: page.status };
    result.events += page.events;
    if (page.events === 0) result.emptyPages += 1;
    result.isWhole = page.next === null;
    if (page.next === null || result.ms.length === limit) return result;
    page = await client.read(page.next);
  }
}

function print(results: readonly Results[], limit: number): Section {
  const [own] = results;
  const columns = results.flatMap(({ version }) => {
    const suffix = results.length > 1 ? `, ${version}` : '';
    return [`p50 / p99 / longest page, ms${suffix}`, `pages (empty)${suffix}`, `events${suffix}`];
  });
  const rowsOf = (isSelective: boolean): string[][] =>
    pairs.flatMap(({ name, isSelective: is }, index) => {
      if (is !== isSelective) return [];
      return [[name, ...results.flatMap(({ walks }) => printWalk(walks[index]))]];
    });
  return {
    title: 'Pairs of filters',
    paragraphs: [
      `No single index is sufficient for these combinations of filters. One client follows \`next\` from the first page to the end of the list, or stops after ${limit} pages (shown as "${limit}…"). A page may have fewer than 50 events, or none, when its time budget ends. In this table, each value has at most 5 % of the events:`,
      table(['filters', ...columns], rowsOf(true)),
      'In this table, at least one value has more than 5 % of the events:',
      table(['filters', ...columns], rowsOf(false)),
    ],
    promises: own ? judge(own) : [],
  };
}

function printWalk(walk: Walk | undefined): string[] {
  if (!walk) return ['', '', ''];
  const { ms, events, emptyPages, isWhole, refusedWith } = walk;
  const times = [median(ms), quantile(ms, 0.99), Math.max(...ms)].map((time) => time.toFixed(1));
  const end = refusedWith === undefined ? '…' : `, then ${refusedWith}`;
  return [times.join(' / '), `${ms.length}${isWhole ? '' : end} (${emptyPages})`, formatCount(events)];
}

function judge({ walks }: Results): KeptPromise[] {
  const groups: [boolean, string][] = [
    [true, 'up to 5 % of the events each'],
    [false, 'more than 5 % of the events'],
  ];
  const times = groups.map(([isSelective, what]): KeptPromise => {
    const p99 = quantile(
      walks.flatMap(({ ms }, index) => (pairs[index]?.isSelective === isSelective ? ms : [])),
      0.99,
    );
    return {
      promise: `pairs of values with ${what}: p99 ≤ ${goals.pageMs} ms per page`,
      measured: `${p99.toFixed(1)} ms`,
      isKept: p99 <= goals.pageMs,
    };
  });
  const empty = Math.max(
    ...walks.map(({ emptyPages }, index) => (pairs[index]?.isSelective ? emptyPages : 0)),
  );
  return [
    ...times,
    {
      promise: `pairs of values with up to 5 %: at most ${goals.emptyPages} empty pages in the whole list`,
      measured: String(empty),
      isKept: empty <= goals.emptyPages,
    },
  ];
}
