import type { EventType } from './platform-queries.js';

/** Topics in display order. The first matching pattern decides. */
const topics: readonly [title: string, pattern: RegExp][] = [
  ['Streams', /^stream\.|^channel\.(update|raid|shoutout|ad_break)\b/],
  ['Followers and subscribers', /^channel\.(follow|subscribe|subscription)\b/],
  ['Bits', /^channel\.(bits|cheer|custom_power_up_redemption)\b/],
  ['Chat', /^channel\.(chat|chat_settings|shared_chat)\b|^user\.whisper\b/],
  ['Channel points', /^channel\.channel_points_/],
  ['Polls and predictions', /^channel\.(poll|prediction)\b/],
  ['Hype trains, goals, and charity', /^channel\.(hype_train|goal|charity_campaign)\b/],
  ['Moderation', /^channel\.(ban|unban|unban_request|moderate|moderator|suspicious_user|vip|warning)\b/],
  ['AutoMod and Shield Mode', /^automod\.|^channel\.shield_mode\b/],
  ['Guest Star', /^channel\.guest_star_/],
  ['Accounts and the application', /^(user|conduit|drop|extension)\./],
];

export interface EventTopic {
  title: string;
  types: EventType[];
}

/** Groups event types by topic. Types without a topic come last, as `Others`. */
export function groupByTopic(types: readonly EventType[]): EventTopic[] {
  const titleOf = ({ type }: EventType): string =>
    topics.find(([, pattern]) => pattern.test(type))?.[0] ?? 'Others';
  return [...topics.map(([title]) => title), 'Others']
    .map((title) => ({ title, types: types.filter((type) => titleOf(type) === title) }))
    .filter((topic) => topic.types.length > 0);
}

/** Returns the newest version of each type. Older versions cannot be switched on. */
export function newestOf(types: readonly EventType[]): EventType[] {
  // Newer versions come later in the list and overwrite older ones.
  return [...new Map(types.map((type) => [type.type, type])).values()];
}

/**
 * Whether the service subscribes to this type per channel. Other types concern the whole application, or need a parameter that the service
 * does not know.
 */
export function isOfChannels({ condition }: EventType): boolean {
  return condition.every((key) => /^((from_|to_)?broadcaster|moderator)_user_id$|^user_id$/.test(key));
}

/** Returns a short name without the common prefix of channel types: `subscription gift`. */
export function shortNameOf({ type }: Pick<EventType, 'type'>): string {
  return type.replace(/^channel\.(channel_points_)?/, '').replaceAll(/[._]/g, ' ');
}
