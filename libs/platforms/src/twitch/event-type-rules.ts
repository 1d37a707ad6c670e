import type { Condition } from '../outbound-platform.js';
import { eventTypes, findEventType, type EventType } from './catalogue/event-types.js';
import { toEventType } from './webhook-message.external.js';

/** The values that subscription conditions need in addition to the streamer's id. */
export interface ConditionValues {
  /** The client id of the application; undefined when it is not configured. */
  clientId: string | undefined;
}

/** Keys whose value is the streamer's id: the streamer is the broadcaster, the moderator, and the chat user at once. */
const streamerKeys = ['broadcaster_user_id', 'moderator_user_id', 'user_id'];

/** The newest version of a type, by the platform's name (`stream.online`) or by the name in events (`stream-online`). */
export function findByAnyName(name: string): EventType | undefined {
  const row = eventTypes.find(({ type }) => type === name || toEventType(type) === name);
  return row && findEventType(row.type);
}

/** Whether the type has one subscription for the whole application instead of one per streamer. */
export function isOfApplication({ condition }: EventType): boolean {
  return condition.includes('client_id');
}

/** Why the service cannot subscribe to the type; null when it can. */
export function unsupportedReason(type: EventType, { clientId }: ConditionValues): string | null {
  if (type.condition_optional.includes('conduit_id'))
    return 'The type concerns conduits, which the service does not use.';
  const unknown = type.condition.filter((key) => key !== 'client_id' && !streamerKeys.includes(key));
  if (unknown.length > 0)
    return `The type needs ${unknown.join(' and ')} in its condition, which the service cannot provide.`;
  if (isOfApplication(type) && clientId === undefined)
    return 'The type needs a client id. Set PLATFORM_CLIENT_ID.';
  return null;
}

/**
 * The conditions of the subscriptions to a supported type: the streamer in every role, or the application. A type with two
 * sides has one subscription for each: the raids on the streamer's channel, then the raids from it.
 */
export function conditionsFor(
  type: EventType,
  streamerId: string,
  { clientId }: ConditionValues,
): Condition[] {
  const sides = type.condition_exactly_one_of.toSorted(incomingFirst);
  return (sides.length > 0 ? sides : [[]]).map((side) => {
    const keys = type.condition.concat(side);
    return Object.fromEntries(keys.map((key) => [key, key === 'client_id' ? (clientId ?? '') : streamerId]));
  });
}

/**
 * The scopes that a channel must grant so that the service can subscribe to these types, sorted. Of scopes that serve alike, the
 * first one, which permits the least. Types of chat need two more, because the service subscribes with the application's token.
 */
export function scopesFor(types: readonly EventType[]): string[] {
  const needed = types.flatMap(({ scopes, app_token_extra_scopes: extra }) => [
    ...scopes.flatMap(([first]) => first ?? []),
    ...extra,
  ]);
  return [...new Set(needed)].sort();
}

/** Under the platform's subscription limit, what happens to the streamer's channel comes first. */
function incomingFirst(one: string, other: string): number {
  return Number(other.startsWith('to_')) - Number(one.startsWith('to_'));
}

// Without these types, only polling would notice that a streamer goes live.
const alwaysActive = ['stream.online', 'stream.offline'];
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

/** Whether the type is active until a user changes it. */
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
