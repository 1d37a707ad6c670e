import { type Condition, type EventType, eventTypes, findEventType } from '@stream-events/platforms';

/** What the conditions of subscriptions are made from. */
export interface ConditionValues {
  /** The application on the platform; undefined when it was not configured. */
  clientId: string | undefined;
}

/** Keys that stand for the streamer: who is subscribed to, who moderates and who reads the chat is one and the same. */
const streamerKeys = ['broadcaster_user_id', 'moderator_user_id', 'user_id'];
// Of a raid, who was raided: the streamer.
const exactlyOneKey = 'to_broadcaster_user_id';

/** The type that the platform calls so (`stream.online`), or events (`stream-online`), in its newest version. */
export function findByAnyName(name: string): EventType | undefined {
  const row = eventTypes.find(({ type }) => type === name || type.replaceAll('.', '-') === name);
  return row && findEventType(row.type);
}

/** Whether there is one subscription for the whole application, and not one for each streamer. */
export function isOfApplication({ condition }: EventType): boolean {
  return condition.includes('client_id');
}

/** Why nobody can be subscribed to the type; null when everybody can. */
export function unsupportedReason(type: EventType, { clientId }: ConditionValues): string | null {
  if (type.condition_optional.includes('conduit_id')) return 'It is about conduits, which are not used here.';
  const unknown = type.condition.filter((key) => key !== 'client_id' && !streamerKeys.includes(key));
  if (unknown.length > 0) return `It needs ${unknown.join(' and ')}, which no streamer has.`;
  if (isOfApplication(type) && clientId === undefined) return 'It needs PLATFORM_CLIENT_ID to be set.';
  return null;
}

/** What a subscription of a supported type is about: this streamer in every role, or the application. */
export function conditionFor(type: EventType, streamerId: string, { clientId }: ConditionValues): Condition {
  const keys = type.condition_exactly_one_of.length > 0 ? [...type.condition, exactlyOneKey] : type.condition;
  return Object.fromEntries(keys.map((key) => [key, key === 'client_id' ? (clientId ?? '') : streamerId]));
}

// Without these nobody would learn at once who goes live.
const alwaysFirst = ['stream.online', 'stream.offline'];
// What the simulated platform tells by itself, so that there is something to see.
const simulatedFirst = [
  'channel.update',
  'channel.follow',
  'channel.subscribe',
  'channel.subscription.gift',
  'channel.subscription.message',
  'channel.cheer',
  'channel.raid',
  'channel.chat.message',
  'channel.channel_points_custom_reward_redemption.add',
  'channel.ban',
  'channel.poll.begin',
  'channel.hype_train.begin',
];

/** Whether the type is active until somebody decides about it. */
export function isActiveAtFirst(type: string, platform: string): boolean {
  return alwaysFirst.includes(type) || (platform === 'simulator' && simulatedFirst.includes(type));
}

/** Types in the order in which room under the platform's limit is given to them. */
export function byPreference(types: readonly EventType[]): EventType[] {
  const rank = ({ type }: EventType): number => {
    const position = alwaysFirst.indexOf(type);
    return position < 0 ? alwaysFirst.length : position;
  };
  return [...types].sort((a, b) => rank(a) - rank(b));
}
