import type { EventOrigin } from './event-record.js';

/** The JetStream stream that carries every stored event. */
export const eventsStreamName = 'EVENTS';

/**
 * All subjects of the stream: `events.<origin>.<event_type>.<broadcaster_user_id or _>`. Not `events.*.*.*`, of which a
 * consumer's filter like `events.platform.channel-raid.>` is no part, so that the broker would refuse it.
 */
export const eventsStreamSubjects = 'events.>';

// A protocol line of NATS holds 4 KiB; 512 bytes leave room for everything else on it.
const maxEncodedTypeBytes = 512;

/**
 * The subject that an event is published on. A type of over 512 encoded bytes is `_long`, a broadcaster id that
 * is not an ordinary one is `_`: a subject that is too long would cost the connection.
 */
export function eventSubject(
  origin: EventOrigin,
  eventType: string,
  broadcasterUserId: string | null,
): string {
  return `events.${origin}.${eventTokens(eventType, broadcasterUserId)}`;
}

/** Replays, on core NATS: whoever listens gets them, nothing keeps them. */
export const replaySubjects = 'live.replay.>';

/** The subject on which an event goes out once more: `live.replay.<event_type>.<broadcaster_user_id or _>`. */
export function replaySubject(eventType: string, broadcasterUserId: string | null): string {
  return `live.replay.${eventTokens(eventType, broadcasterUserId)}`;
}

/** The NATS header of a replay that is meant for the live connections of a name only: the name, percent-encoded. */
export const connectionNameHeader = 'Connection-Name';

/** The two tokens that a subject ends with: `<event_type>.<broadcaster_user_id or _>`. */
function eventTokens(eventType: string, broadcasterUserId: string | null): string {
  const type = encodeToken(eventType);
  const isOrdinary = broadcasterUserId !== null && /^[\w-]{1,64}$/.test(broadcasterUserId);
  return `${type.length > maxEncodedTypeBytes ? '_long' : type}.${isOrdinary ? broadcasterUserId : '_'}`;
}

function encodeToken(text: string): string {
  // encodeURIComponent leaves . ! ' ( ) * ~ alone; the dot and the star mean something to NATS.
  return encodeURIComponent(text).replace(
    /[.!'()*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
