import { findEventType } from '@stream-events/platforms';

/** An event type that the simulator generates. */
export interface SimulatedType {
  readonly type: string;
  readonly version: string;
}

interface LivelyEvent {
  readonly type: string;
  /** Frequency relative to the other types. */
  readonly weight: number;
  /** True if the event can also happen while the channel is offline. */
  readonly happensOffline?: true;
}

/** Generated events, with the frequencies of a busy evening: mostly chat, rarely the end of a stream. */
export const livelyEvents: readonly LivelyEvent[] = [
  { type: 'stream.online', weight: 1, happensOffline: true },
  { type: 'stream.offline', weight: 1, happensOffline: true },
  { type: 'channel.update', weight: 2, happensOffline: true },
  { type: 'channel.follow', weight: 12, happensOffline: true },
  { type: 'channel.subscribe', weight: 5 },
  { type: 'channel.subscription.gift', weight: 2 },
  { type: 'channel.subscription.message', weight: 3 },
  { type: 'channel.cheer', weight: 6 },
  { type: 'channel.raid', weight: 2 },
  { type: 'channel.chat.message', weight: 50 },
  { type: 'channel.channel_points_custom_reward_redemption.add', weight: 8 },
  { type: 'channel.ban', weight: 2 },
  { type: 'channel.poll.begin', weight: 1 },
  { type: 'channel.hype_train.begin', weight: 1 },
];

/** The generated types, each in its newest version. */
export const simulatedTypes: readonly SimulatedType[] = livelyEvents.map(({ type }) => ({
  type,
  version: findEventType(type)?.version ?? '1',
}));

/** Whether the event happens only while the channel is live. */
export function needsStream(type: string): boolean {
  return livelyEvents.some((lively) => lively.type === type && lively.happensOffline !== true);
}
