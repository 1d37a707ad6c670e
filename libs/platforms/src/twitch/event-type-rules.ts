import type { Condition } from '../outbound-platform.js';
import { eventTypes, findEventType, type EventType } from './catalogue/event-types.js';
import { toEventType } from './webhook-message.external.js';

/** What a subscription's condition needs in addition to the streamer's id. */
export interface ConditionValues {
  /** The client id of the application; undefined when it is not configured. */
  clientId: string | undefined;
  /** The conduit that delivers events; undefined when there is none. */
  conduitId?: string | undefined;
  /** The bot account, which reads the chat of every channel. When undefined, each channel's own user reads its chat. */
  botId?: string | undefined;
}

/** The scopes of a bot account, which reads and sends chat messages in other users' channels. */
export const botScopes: readonly string[] = ['user:bot', 'user:read:chat', 'user:write:chat'];

/** The scope that lets the application act in the chat of a channel. */
const channelBot = 'channel:bot';

/** Keys whose value is the streamer's id. In conditions, the streamer is also the moderator and, without a bot account, the chat user. */
const streamerKeys = ['broadcaster_user_id', 'moderator_user_id', 'user_id'];

/** Finds the newest version of a type, by the platform's name (`stream.online`) or the service's name (`stream-online`). */
export function findByAnyName(name: string): EventType | undefined {
  const row = eventTypes.find(({ type }) => type === name || toEventType(type) === name);
  return row && findEventType(row.type);
}

/** A user who must have granted one of these scopes to the application. */
export interface RequiredGrant {
  userId: string;
  /** Sorted: the first scope is the least privileged. */
  oneOf: readonly string[];
  /** Whether the subscription may work without the grant. A bot needs no grant from a channel that it moderates. */
  isOptional: boolean;
}

/** Whether the whole application shares one subscription to the type, instead of one per streamer. */
export function isOfApplication({ condition }: EventType): boolean {
  return condition.includes('client_id');
}

/** Returns why users cannot activate the type, or null when they can. */
export function unsupportedReason(type: EventType, { clientId }: ConditionValues): string | null {
  if (type.condition_optional.includes('conduit_id'))
    return 'The service subscribes to this type automatically while events arrive over a conduit.';
  const unknown = type.condition.filter((key) => key !== 'client_id' && !streamerKeys.includes(key));
  if (unknown.length > 0)
    return `The type needs ${unknown.join(' and ')} in its condition, which the service cannot provide.`;
  if (isOfApplication(type) && clientId === undefined)
    return 'The type needs a client id. Set PLATFORM_CLIENT_ID.';
  return null;
}

/**
 * Returns the conditions of the subscriptions to a supported type. The streamer has every role in a condition, except that a bot account,
 * if there is one, reads the chat. A type that the whole application shares has a condition with the client id instead.
 *
 * Raids have two subscriptions: one for raids to the streamer's channel, then one for raids from this channel.
 */
export function conditionsFor(
  type: EventType,
  streamerId: string,
  { clientId, conduitId, botId }: ConditionValues,
): Condition[] {
  if (conduitId !== undefined && type.condition_optional.includes('conduit_id'))
    return [{ client_id: clientId ?? '', conduit_id: conduitId }];
  const values: Record<string, string | undefined> = {
    client_id: clientId ?? '',
    ...(isOfChat(type) && { user_id: botId }),
  };
  const sides = type.condition_exactly_one_of.toSorted(incomingFirst);
  return (sides.length > 0 ? sides : [[]]).map((side) => {
    const keys = type.condition.concat(side);
    return Object.fromEntries(keys.map((key) => [key, values[key] ?? streamerId]));
  });
}

/**
 * Returns the grants that a subscription with the app access token needs (FACTS.md §5). The user who reads the events must
 * have granted one scope of each group and, for chat, `user:bot`. For most chat types, the broadcaster must have granted `channel:bot`.
 */
export function requiredGrants(
  { scopes, app_token_extra_scopes: extra }: EventType,
  condition: Condition,
): RequiredGrant[] {
  const broadcasterId = condition.broadcaster_user_id;
  const readerId = condition.moderator_user_id ?? condition.user_id ?? broadcasterId;
  if (readerId === undefined) return [];
  const ofReader = [...scopes, ...extra.filter((scope) => scope !== channelBot).map((scope) => [scope])];
  const ofChannel = extra.includes(channelBot) && broadcasterId !== undefined;
  return [
    ...ofReader.map((oneOf) => ({ userId: readerId, oneOf, isOptional: false })),
    ...(ofChannel
      ? [{ userId: broadcasterId, oneOf: [channelBot], isOptional: readerId !== broadcasterId }]
      : []),
  ];
}

/**
 * Returns the scopes, sorted, that a channel must grant so that the service can subscribe to these types. From each group of alternative
 * scopes, picks the first, which is the least privileged. Chat types also need `user:bot`, and most of them `channel:bot`, because the
 * service subscribes with the app access token. With a bot account, chat types need at most `channel:bot` from the channel.
 */
export function scopesFor(types: readonly EventType[], { hasBot = false } = {}): string[] {
  const needed = types.flatMap((type) => {
    const { scopes, app_token_extra_scopes: extra } = type;
    if (hasBot && isOfChat(type)) return extra.filter((scope) => scope === channelBot);
    return [...scopes.flatMap(([first]) => first ?? []), ...extra];
  });
  return [...new Set(needed)].sort();
}

/** Returns the types that the service subscribes to while events arrive over its conduit, such as reports about lost shards. */
export function typesForConduit(): EventType[] {
  return eventTypes.filter((type) => type.condition_optional.includes('conduit_id'));
}

/** Whether the type is about chat: its condition names a channel, and the user who reads that channel. */
function isOfChat({ condition }: EventType): boolean {
  return condition.includes('broadcaster_user_id') && condition.includes('user_id');
}

/** Puts raids to the streamer first, because they have priority under the platform's subscription limit. */
function incomingFirst(one: string, other: string): number {
  return Number(other.startsWith('to_')) - Number(one.startsWith('to_'));
}

// These types are active by default. Without the stream types, only polling would show that a streamer goes live. Without the authorization
// types, only the hourly list of grants would show that a user has given or withdrawn consent.
const alwaysActive = [
  'stream.online',
  'stream.offline',
  'user.authorization.grant',
  'user.authorization.revoke',
];
// The simulated platform sends these types by default, so that a new installation has events to show.
const activeInSimulation = [
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

/** Whether the type is active until a user activates or deactivates it. */
export function isActiveByDefault(type: string, platform: string): boolean {
  return alwaysActive.includes(type) || (platform === 'simulator' && activeInSimulation.includes(type));
}

/** Sorts types by their priority, which matters when the platform's subscription limit is reached. */
export function byPriority(types: readonly EventType[]): EventType[] {
  const rank = ({ type }: EventType): number => {
    const position = alwaysActive.indexOf(type);
    return position < 0 ? alwaysActive.length : position;
  };
  return [...types].sort((a, b) => rank(a) - rank(b));
}
