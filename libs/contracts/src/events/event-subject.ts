import type { EventOrigin } from './event-record.js';
import type { EventColumns } from './filter-columns.js';

/** The JetStream stream of all stored events. */
export const eventsStreamName = 'EVENTS';

/**
 * Every subject has the form `events.<origin>.<event_type>.<broadcaster_user_id or _>`, but `events.*.*.*` would be too narrow: the broker
 * would reject a consumer filter such as `events.platform.channel-raid.>`, which is not a subset of that pattern.
 */
export const eventsStreamSubjects = 'events.>';

// Limits the encoded type to leave room in a NATS protocol line, which holds 4 KiB.
const maxEncodedTypeBytes = 512;

/** Returns the channel for an event's subject: the broadcaster, or for a raid, the raided channel. */
export function subjectChannel({
  broadcasterUserId,
  raidToId,
}: Pick<EventColumns, 'broadcasterUserId' | 'raidToId'>): string | null {
  return broadcasterUserId ?? raidToId;
}

/**
 * Returns an event's subject. The broker closes the connection if a subject is too long, so a type of more than 512 encoded bytes becomes
 * `_long`. A channel id becomes `_` unless it is 1 to 64 letters, digits, `_`, or `-`.
 *
 * @param channelId see `subjectChannel`
 */
export function eventSubject(origin: EventOrigin, eventType: string, channelId: string | null): string {
  return `events.${origin}.${eventTokens(eventType, channelId)}`;
}

/** Subjects of replays on core NATS, which does not store them: only current subscribers receive a replay. */
export const replaySubjects = 'live.replay.>';

/**
 * Returns a replay's subject: `live.replay.<event_type>.<broadcaster_user_id or _>`.
 *
 * @param channelId see `subjectChannel`
 */
export function replaySubject(eventType: string, channelId: string | null): string {
  return `live.replay.${eventTokens(eventType, channelId)}`;
}

/** NATS header that restricts a replay to live connections of one name. The value is the percent-encoded name. */
export const connectionNameHeader = 'Connection-Name';

/** Returns the last two tokens of a subject: `<event_type>.<broadcaster_user_id or _>`. */
function eventTokens(eventType: string, channelId: string | null): string {
  const type = encodeToken(eventType);
  const isOrdinary = channelId !== null && /^[\w-]{1,64}$/.test(channelId);
  return `${type.length > maxEncodedTypeBytes ? '_long' : type}.${isOrdinary ? channelId : '_'}`;
}

// Limits the cache. The platform has few event types, but clients can post any number of others.
const maxRememberedTokens = 1_000;
const rememberedTokens = new Map<string, string>();

function encodeToken(text: string): string {
  const remembered = rememberedTokens.get(text);
  if (remembered !== undefined) return remembered;
  if (rememberedTokens.size >= maxRememberedTokens) rememberedTokens.clear();
  const token = printToken(text);
  rememberedTokens.set(text, token);
  return token;
}

function printToken(text: string): string {
  // encodeURIComponent keeps . ! ' ( ) * ~, but the dot and the star are special in NATS subjects.
  return encodeURIComponent(text).replace(
    /[.!'()*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
