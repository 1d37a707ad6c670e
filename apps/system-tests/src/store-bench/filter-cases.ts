import type { ListQuery } from './list-query.js';
import {
  channelId,
  channelName,
  chatType,
  clientSource,
  messageId,
  oldestOnly,
  rewardId,
  rewardsPerChannel,
  rewardType,
  viewerId,
  viewerName,
  type Population,
} from './population.js';

/** Number of events that match a value, and their partitions. */
export type Spread = 'many' | 'few' | 'absent' | 'oldest month';

/** A filter, possibly combined with a type, and values of one spread. */
export interface FilterCase {
  /** Name in the API. */
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

const manyRanks = 8;

const fiveTypes = ['channel-follow', rewardType, 'channel-subscribe', 'channel-cheer', 'channel-raid'];
const fiveRareTypes = [
  'channel-vip-add',
  'channel-moderator-add',
  'channel-warning-send',
  'bot-command',
  'channel-ban',
];

/** Each filter alone, with one type, and with several types. */
export function filterCases(population: Population): FilterCase[] {
  const { channels, viewers } = population;
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
  ];
  const oldest = oldestOnly(population);
  const eventId = (sample: number): string => messageId(2 + ((sample * 7_919) % (population.events / 2)));
  return [
    { name: 'none', spread: 'many', queryOf: () => ({}) },
    { name: 'since', spread: 'many', queryOf: (sample) => ({ since: timeOf(population, sample) }) },
    ...casesOfValues('event_type', 'many', ['channel-follow', chatType, rewardType, 'stream-online']),
    ...casesOfValues('event_type', 'few', [
      'channel-vip-add',
      'channel-warning-send',
      'channel-shoutout-create',
    ]),
    ...casesOfValues('event_type', 'absent', ['no-such-type']),
    ...ranked.flatMap((filter) => casesOfRanks(filter)),
    ...casesOfValues('origin', 'many', ['platform']),
    ...casesOfValues('origin', 'many', ['test'], 'channel-follow'),
    ...casesOfValues('event_source', 'many', ['PlatformSub'], chatType),
    ...casesOfValues('event_source', 'many', [clientSource, 'TestCall'], 'bot-command'),
    ...casesOfValues('event_source', 'absent', ['NoSuchSource'], chatType),
    { name: 'event_id', spread: 'few', queryOf: (sample) => ({ event_id: eventId(sample) }) },
    { name: 'event_id', spread: 'absent', queryOf: (sample) => ({ event_id: `no-such-id-${sample}` }) },
    ...casesOfValues('broadcaster_user_id', 'oldest month', [channelId(oldest.channel)], rewardType),
    ...casesOfValues('user_id', 'oldest month', [viewerId(oldest.viewer)], rewardType),
    ...casesOfValues('user_name', 'oldest month', [viewerName(oldest.viewer)], rewardType),
    ...casesOfValues('event_id', 'oldest month', [messageId(1)]),
    // A channel can be the broadcaster, the raiding channel, or the raided channel.
    ...casesOfRanks({ name: 'channel_id', valueOf: channelId, ranks: channels, type: 'channel-raid' }),
    ...casesOfTypes(population),
  ];
}

function casesOfTypes({ channels, viewers }: Population): FilterCase[] {
  const types: ListQuery = { event_types: fiveTypes.join(',') };
  const queries: [name: string, Spread, (sample: number) => ListQuery][] = [
    ['five event_types', 'many', () => types],
    ['five event_types', 'few', () => ({ event_types: fiveRareTypes.join(',') })],
    ['five event_types', 'absent', () => ({ event_types: 'no,such,types,as,these' })],
    [
      'broadcaster_user_id, five event_types',
      'many',
      (sample) => ({ ...channel(sample % manyRanks), ...types }),
    ],
    [
      'broadcaster_user_id, five event_types',
      'few',
      (sample) => ({ ...channel(channels - 1 - sample), ...types }),
    ],
    ['user_id, five event_types', 'many', (sample) => ({ user_id: viewerId(sample % manyRanks), ...types })],
    ['user_id, five event_types', 'few', (sample) => ({ user_id: viewerId(viewers - 1 - sample), ...types })],
  ];
  return queries.map(([name, spread, queryOf]) => ({ name, spread, queryOf }));
}

function channel(rank: number): ListQuery {
  return { broadcaster_user_id: channelId(rank) };
}

/** Samples rotate through the values: alone and, if a type is given, combined with the type. */
function casesOfValues(name: string, spread: Spread, values: readonly string[], type?: string): FilterCase[] {
  const queryOf = (sample: number): ListQuery => ({ [name]: values[sample % values.length] ?? '' });
  // Values that differ too much are measured in separate cases. The label distinguishes these cases.
  const label = spread === 'many' && values.length <= 2 ? `${name} (${values.join(', ')})` : name;
  return casesOf({ name: label, spread, queryOf }, type);
}

function casesOfRanks({ name, valueOf, ranks, type }: RankedFilter): FilterCase[] {
  const fewRanks = Math.floor(ranks * 0.3);
  // 7,919 shares no factor with `fewRanks`, so all of these ranks occur.
  const few = (sample: number): number => ranks - 1 - ((sample * 7_919) % fewRanks);
  const rankOf: [Spread, (sample: number) => number][] = [
    ['many', (sample) => sample % manyRanks],
    ['few', few],
    ['absent', (sample) => ranks + 10 + sample],
  ];
  return rankOf.flatMap(([spread, rank]) =>
    casesOf({ name, spread, queryOf: (sample) => ({ [name]: valueOf(rank(sample), sample) }) }, type),
  );
}

function casesOf(alone: FilterCase, type: string | undefined): FilterCase[] {
  if (type === undefined) return [alone];
  const queryOf = (sample: number): ListQuery => ({ ...alone.queryOf(sample), event_type: type });
  return [alone, { ...alone, name: `${alone.name}, event_type`, queryOf }];
}

function timeOf({ until }: Population, sample: number): string {
  return new Date(until - (sample + 1) * 3_600_000).toISOString();
}
