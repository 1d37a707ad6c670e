import type { EventOrigin } from './event-record.js';

/** The JetStream stream that carries every stored event. */
export const eventsStreamName = 'EVENTS';

/**
 * All subjects of the stream: `events.<origin>.<event_type>.<broadcaster_user_id or _>`. With `events.*.*.*`, the broker would
 * reject a consumer's filter like `events.platform.channel-raid.>`, because that filter is not a subset.
 */
export const eventsStreamSubjects = 'events.>';

// A NATS protocol line holds 4 KiB. With 512 bytes for the type, there is room for everything else on the line.
const maxEncodedTypeBytes = 512;

/**
 * Returns the subject of an event. A type of more than 512 encoded bytes becomes `_long`, and a broadcaster id other than 1 to
 * 64 letters, digits, `_` and `-` becomes `_`: the broker closes the connection when a subject is too long.
 */
export function eventSubject(
  origin: EventOrigin,
  eventType: string,
  broadcasterUserId: string | null,
): string {
  return `events.${origin}.${eventTokens(eventType, broadcasterUserId)}`;
}

/** The subjects of replays on core NATS: current subscribers get a replay, and nothing stores it. */
export const replaySubjects = 'live.replay.>';

/** Returns the subject of a replayed event: `live.replay.<event_type>.<broadcaster_user_id or _>`. */
export function replaySubject(eventType: string, broadcasterUserId: string | null): string {
  return `live.replay.${eventTokens(eventType, broadcasterUserId)}`;
}

/** The NATS header of a replay for live connections with one name only. Its value is the name, percent-encoded. */
export const connectionNameHeader = 'Connection-Name';

/** Returns the last two tokens of a subject: `<event_type>.<broadcaster_user_id or _>`. */
function eventTokens(eventType: string, broadcasterUserId: string | null): string {
  const type = encodeToken(eventType);
  const isOrdinary = broadcasterUserId !== null && /^[\w-]{1,64}$/.test(broadcasterUserId);
  return `${type.length > maxEncodedTypeBytes ? '_long' : type}.${isOrdinary ? broadcasterUserId : '_'}`;
}

function encodeToken(text: string): string {
  // encodeURIComponent does not encode . ! ' ( ) * ~. The dot and the star are special in NATS subjects.
  return encodeURIComponent(text).replace(
    /[.!'()*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
