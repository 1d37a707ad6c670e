import type { EventOrigin } from './event-record.js';
import type { EventColumns } from './filter-columns.js';

/** The JetStream stream that carries every stored event. */
export const eventsStreamName = 'EVENTS';

/**
 * All subjects of the stream. Each has the form `events.<origin>.<event_type>.<broadcaster_user_id or _>`. The stream does not use the
 * narrower pattern `events.*.*.*`: the broker would reject a consumer's filter such as `events.platform.channel-raid.>`, because this
 * filter is not a subset of that pattern.
 */
export const eventsStreamSubjects = 'events.>';

// A NATS protocol line holds 4 KiB. A limit of 512 bytes for the type leaves room for the rest of the line.
const maxEncodedTypeBytes = 512;

/** Returns the channel that the subject of an event names: its broadcaster, or the raided channel of a raid. */
export function subjectChannel({
  broadcasterUserId,
  raidToId,
}: Pick<EventColumns, 'broadcasterUserId' | 'raidToId'>): string | null {
  return broadcasterUserId ?? raidToId;
}

/**
 * Returns the subject of an event. The broker closes the connection when a subject is too long. Therefore, a type of more than 512 encoded
 * bytes becomes `_long`, and a channel id that is not 1 to 64 letters, digits, `_`, or `-` becomes `_`.
 *
 * @param channelId see `subjectChannel`
 */
export function eventSubject(origin: EventOrigin, eventType: string, channelId: string | null): string {
  return `events.${origin}.${eventTokens(eventType, channelId)}`;
}

/** The subjects of replays on core NATS. Only current subscribers receive a replay, because core NATS does not store messages. */
export const replaySubjects = 'live.replay.>';

/**
 * Returns the subject of a replayed event: `live.replay.<event_type>.<broadcaster_user_id or _>`.
 *
 * @param channelId see `subjectChannel`
 */
export function replaySubject(eventType: string, channelId: string | null): string {
  return `live.replay.${eventTokens(eventType, channelId)}`;
}

/** The NATS header that restricts a replay to live connections with a given name. The value is the percent-encoded name. */
export const connectionNameHeader = 'Connection-Name';

/** Returns the last two tokens of a subject: `<event_type>.<broadcaster_user_id or _>`. */
function eventTokens(eventType: string, channelId: string | null): string {
  const type = encodeToken(eventType);
  const isOrdinary = channelId !== null && /^[\w-]{1,64}$/.test(channelId);
  return `${type.length > maxEncodedTypeBytes ? '_long' : type}.${isOrdinary ? channelId : '_'}`;
}

// Limits the memory of the cache: the platform has few event types, but clients can post events with any number of other types.
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
  // encodeURIComponent does not encode . ! ' ( ) * ~. The dot and the star are special in NATS subjects.
  return encodeURIComponent(text).replace(
    /[.!'()*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
