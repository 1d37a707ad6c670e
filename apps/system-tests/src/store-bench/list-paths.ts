import {
  channelId,
  channelName,
  chatType,
  clientSource,
  rewardId,
  rewardType,
  viewerId,
  viewerName,
  type Population,
} from './population.js';

export type ListQuery = Readonly<Record<string, string>>;

/** Path of a page of the event list. */
export function pathOf(query: ListQuery): string {
  const parameters = new URLSearchParams(query).toString();
  return `/api/v1/platform-events${parameters === '' ? '' : `?${parameters}`}`;
}

/** Path of a link of the API. */
export function pathOfLink(link: string): string {
  const { pathname, search } = new URL(link);
  return pathname + search;
}

/** 64 different first pages, as dashboards, overlays, and bots request them. Most filter by values with many events. */
export function commonPaths({ viewers }: Population): string[] {
  const chat = { event_type: chatType };
  const follow = { event_type: 'channel-follow' };
  const types = [
    'channel-subscribe',
    'channel-cheer',
    'channel-raid',
    'stream-online',
    'channel-ban',
    rewardType,
  ];
  const someViewers = [0, 1, 5, 40, 400, 1_000, Math.floor(viewers / 2), viewers - 1];
  const channels = [0, 1, 2, 5, 10, 50, 200, 700];
  const channel = (rank: number): ListQuery => ({ broadcaster_user_id: channelId(rank) });
  const queries: ListQuery[] = [
    ...Array.from({ length: 4 }, (_, index) => ({ page_size: String(50 - index) })),
    ...[chat, follow, ...types.map((event_type) => ({ event_type }))],
    ...channels.map(channel),
    ...[0, 1, 2, 5, 10].flatMap((rank) => [
      { ...channel(rank), ...chat },
      { ...channel(rank), ...follow },
    ]),
    ...someViewers.map((rank) => ({ user_id: viewerId(rank) })),
    ...someViewers.slice(0, 6).map((rank) => ({ user_name: viewerName(rank) })),
    ...someViewers.slice(0, 6).map((rank) => ({ user_id: viewerId(rank), ...chat })),
    ...someViewers.slice(0, 2).map((rank) => ({ user_name: viewerName(rank), ...follow })),
    ...[0, 1, 2, 3].map((rank) => ({ reward_id: rewardId(rank, rank) })),
    ...[0, 1].flatMap((rank) => [{ raid_from: channelName(rank) }, { raid_to: channelName(rank) }]),
    ...[{ origin: 'test' }, { event_source: 'PlatformSub' }],
    ...[{ event_source: clientSource }, { event_source: 'TestCall' }],
  ];
  return queries.map(pathOf);
}
