import type { Condition } from '../outbound-platform.js';
import { eventTypes, findEventType, type EventType } from './catalogue/event-types.js';
import { toEventType } from './webhook-message.external.js';

/** The values that subscription conditions need in addition to the streamer's id. */
export interface ConditionValues {
  /** The client id of the application; undefined when it is not configured. */
  clientId: string | undefined;
  /** The conduit that events arrive over; undefined when there is none. */
  conduitId?: string | undefined;
  /** The user who reads the chat of every channel; undefined when each channel's own user reads its chat. */
  botId?: string | undefined;
}

/** The scopes of a bot account, which reads and sends chat messages in other channels. */
export const botScopes: readonly string[] = ['user:bot', 'user:read:chat', 'user:write:chat'];

/** The scope that lets the application act in the chat of a channel. */
const channelBot = 'channel:bot';

/** Keys whose value is the streamer's id: the streamer is the broadcaster, the moderator, and the chat user at once. */
const streamerKeys = ['broadcaster_user_id', 'moderator_user_id', 'user_id'];

/** Finds the newest version of a type, by the platform's name (`stream.online`) or by the name in events (`stream-online`). */
export function findByAnyName(name: string): EventType | undefined {
  const row = eventTypes.find(({ type }) => type === name || toEventType(type) === name);
  return row && findEventType(row.type);
}

/** A user who must have granted one of these scopes to the application. */
export interface RequiredGrant {
  userId: string;
  /** The first scope permits the least. */
  oneOf: readonly string[];
  /** Whether the subscription may work without the grant: a bot needs no grant from a channel that it moderates. */
  isOptional: boolean;
}

/** Whether the type has one subscription for the whole application instead of one per streamer. */
export function isOfApplication({ condition }: EventType): boolean {
  return condition.includes('client_id');
}

/** Returns why the service cannot subscribe to the type; null when it can. */
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
 * Returns the conditions of the subscriptions to a supported type. The streamer has every role in a condition. With a bot account, the bot
 * account is the user who reads the chat. If a type has one subscription for the whole application, the condition names the application
 * instead. Raids have two subscriptions: the first for raids to the streamer's channel, the second for raids from this channel.
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
 * Returns what users must have granted so that the application can subscribe with its own token (docs/platform-facts.md §5): one scope of
 * each group from the user who reads the events and, for chat, `channel:bot` from the broadcaster.
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
 * Returns the scopes that a channel must grant so that the service can subscribe to these types, sorted. From each group of alternative
 * scopes, takes the first one, which permits the least. Chat types need two more scopes, because the service subscribes with the
 * application's token. With a bot account, chat types need only `channel:bot` from the channel.
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

/** Whether a user reads the events of the type in a channel that may belong to another user. */
function isOfChat({ condition }: EventType): boolean {
  return condition.includes('broadcaster_user_id') && condition.includes('user_id');
}

/** Sorts the key of the raided channel first: raids to the streamer have priority under the platform's subscription limit. */
function incomingFirst(one: string, other: string): number {
  return Number(other.startsWith('to_')) - Number(one.startsWith('to_'));
}

// Without these types, only polling would show that a streamer goes live, and only the hourly list of grants would show that a user has
// given or withdrawn consent.
const alwaysActive = [
  'stream.online',
  'stream.offline',
  'user.authorization.grant',
  'user.authorization.revoke',
];
// The types that the simulated platform sends by default, so that a new installation has events to show.
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

/** Whether the type is active by default, until a user activates or deactivates it. */
export function isActiveByDefault(type: string, platform: string): boolean {
  return alwaysActive.includes(type) || (platform === 'simulator' && activeInSimulation.includes(type));
}

/** Sorts types by their priority under the platform's subscription limit. */
export function byPriority(types: readonly EventType[]): EventType[] {
  const rank = ({ type }: EventType): number => {
    const position = alwaysActive.indexOf(type);
    return position < 0 ? alwaysActive.length : position;
  };
  return [...types].sort((a, b) => rank(a) - rank(b));
}
