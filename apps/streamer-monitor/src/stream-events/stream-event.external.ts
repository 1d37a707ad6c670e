import {
  isJsonObject,
  isTextWithin,
  occurredAtHeader,
  parseJson,
  receivedAt,
  type StoredEvent,
} from '@stream-events/contracts';
import type { JsMsg } from '@nats-io/jetstream';
import type { Milliseconds } from '../streams/stream-facts.js';
import type { StreamEvent } from '../streams/stream-recorder.service.js';

/** The event types that report when streams start and end. */
export const streamEventTypes = ['stream-online', 'stream-offline'] as const;

/** The message or stored event is not a valid stream event, so a retry cannot help. */
export class UnreadableEventError extends Error {}

/** The platform's payload for stream.online. The payload for stream.offline has only the broadcaster fields and, since 2026-06, `id`. */
interface StreamPayload {
  id?: unknown;
  broadcaster_user_id?: unknown;
  broadcaster_user_login?: unknown;
  broadcaster_user_name?: unknown;
  type?: unknown;
  started_at?: unknown;
}

/** The parts of an event that a stream event is read from. */
type EventParts = Pick<StoredEvent, 'id' | 'eventId' | 'eventType' | 'origin' | 'occurredAt'> & {
  data: unknown;
};

/**
 * Reads a message of the EVENTS stream.
 *
 * @returns null when the event does not come from the platform (test events and events from clients change no stream) or has another type
 * @throws UnreadableEventError
 */
export function parseStreamMessage(message: Pick<JsMsg, 'headers' | 'string'>): StreamEvent | null {
  const record = parse(message.string());
  if (!isJsonObject(record)) throw new UnreadableEventError('the message is not a JSON object');
  const { id, event_id: eventId, event_type: eventType, origin } = record;
  if (origin !== 'platform' || eventId === null) return null;
  if (!isTextWithin(id, 36, 36) || typeof eventId !== 'string' || typeof eventType !== 'string')
    throw new UnreadableEventError('the message is not an event record');
  const occurredAt = Date.parse(message.headers?.get(occurredAtHeader) ?? '');
  return readStreamEvent({ id, eventId, eventType, origin, occurredAt, data: record.event_data });
}

/**
 * Reads an event from the event log, with the same result as its message on the stream.
 *
 * @throws UnreadableEventError
 */
export function parseStoredEvent({ eventData, ...event }: StoredEvent): StreamEvent | null {
  if (event.origin !== 'platform' || event.eventId === null) return null;
  return readStreamEvent({ ...event, data: parse(eventData) });
}

function readStreamEvent({ id: eventId, eventType, occurredAt, data }: EventParts): StreamEvent | null {
  if (!isJsonObject(data)) throw new UnreadableEventError('event_data is not an object');
  const payload: StreamPayload = data;
  const userId = readText(payload, 'broadcaster_user_id');
  const common = {
    at: readTime(occurredAt) ?? receivedAt(eventId),
    userId,
    userLogin: readOptional(payload, 'broadcaster_user_login'),
  };
  if (eventType === 'stream-offline') {
    const streamId = payload.id === undefined || payload.id === null ? null : readText(payload, 'id');
    return { ...common, kind: 'offline', offline: { eventId, streamId, at: common.at } };
  }
  if (eventType !== 'stream-online') return null;
  const startedAt = readTime(Date.parse(readText(payload, 'started_at')));
  if (startedAt === null) throw new UnreadableEventError('event_data.started_at is not a valid time');
  const stream = {
    eventId,
    streamId: readText(payload, 'id'),
    startedAt,
    announcedAt: common.at,
    type: readOptional(payload, 'type'),
    userId,
    userLogin: common.userLogin,
    userName: readOptional(payload, 'broadcaster_user_name'),
  };
  return { ...common, kind: 'online', stream };
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new UnreadableEventError('the event is not valid JSON', { cause: error });
  }
}

function readText(payload: StreamPayload, key: keyof StreamPayload): string {
  const value = payload[key];
  if (!isTextWithin(value, 1, 255))
    throw new UnreadableEventError(`event_data.${key} is not a string of 1 to 255 characters`);
  return value;
}

/** Returns an empty string for an invalid value: no start or end depends on this field, so it must not make the event unreadable. */
function readOptional(payload: StreamPayload, key: keyof StreamPayload): string {
  const value = payload[key];
  return isTextWithin(value, 1, 255) ? value : '';
}

/** Returns the time if it is plausible and fits in the database (2000 to 2200), or null. */
function readTime(value: number | null | undefined): Milliseconds | null {
  const isTime = value != null && value >= Date.UTC(2000, 0) && value < Date.UTC(2200, 0);
  return isTime ? value : null;
}
