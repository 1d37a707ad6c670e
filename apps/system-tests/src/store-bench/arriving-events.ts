import type { ListQuery } from './list-query.js';
import {
  channelId,
  channelName,
  chatType,
  rewardId,
  rewardsPerChannel,
  rewardType,
  tailExponents,
  viewerGroups,
  viewerId,
  viewerName,
  type Population,
} from './population.js';

/** An event that arrives while other clients read pages: the request body, and its value for each filter. */
export interface ArrivingEvent {
  body: string;
  fields: ListQuery;
}

/** Picks a random channel and viewer. The distributions have the same long tails as the store. */
export function makeArrivingEvent({ channels, viewers }: Population): ArrivingEvent {
  const channel = pickRank(channels, tailExponents.channels);
  const viewer =
    pickRank(viewers / viewerGroups, tailExponents.viewers) * viewerGroups + (channel % viewerGroups);
  const chance = Math.random();
  const user = { user_id: viewerId(viewer), user_name: viewerName(viewer) };
  const broadcaster = {
    broadcaster_user_id: channelId(channel),
    broadcaster_user_name: channelName(channel),
  };
  if (chance < 0.05) {
    const raided = (channel + 1 + pickRank(channels - 1, tailExponents.channels)) % channels;
    const names = {
      from_broadcaster_user_name: channelName(channel),
      to_broadcaster_user_name: channelName(raided),
    };
    return printEvent(
      'channel-raid',
      {
        from_broadcaster_user_id: channelId(channel),
        to_broadcaster_user_id: channelId(raided),
        ...names,
        viewers: 10,
      },
      {
        user_id: channelId(channel),
        user_name: channelName(channel),
        raid_from: names.from_broadcaster_user_name,
        raid_to: names.to_broadcaster_user_name,
      },
    );
  }
  const fields = { ...user, broadcaster_user_id: broadcaster.broadcaster_user_id };
  if (chance < 0.15) {
    const reward_id = rewardId(channel, Math.floor(Math.random() * rewardsPerChannel));
    const reward = { id: reward_id, title: 'Hydrate', cost: 500 };
    return printEvent(rewardType, { ...user, ...broadcaster, reward }, { ...fields, reward_id });
  }
  const eventType = chance < 0.3 ? 'channel-follow' : chatType;
  return printEvent(eventType, { ...user, ...broadcaster, message: 'hello'.repeat(20) }, fields);
}

/** Whether an event matches a query. */
export function matches(query: ListQuery, fields: ListQuery): boolean {
  return Object.entries(query).every(
    ([name, value]) => name === 'page_size' || fields[name]?.toLowerCase() === value.toLowerCase(),
  );
}

function printEvent(event_type: string, event_data: object, fields: ListQuery): ArrivingEvent {
  const event_source = 'PlatformSub';
  return {
    body: JSON.stringify({ event_type, event_source, event_data }),
    fields: { ...fields, event_type, event_source, origin: 'platform' },
  };
}

function pickRank(count: number, exponent: number): number {
  return Math.floor(count * Math.random() ** exponent);
}
