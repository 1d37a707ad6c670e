import {
  isJsonObject,
  isTextWithin,
  occurredAtHeader,
  receivedAt,
  type StoredEvent,
} from '@stream-events/contracts';
import type { JsMsg } from '@nats-io/jetstream';
import type { Milliseconds } from '../streams/stream-facts.js';
import type { StreamEvent } from '../streams/stream-recorder.service.js';

/** The event types that say something about streams. */
export const streamEventTypes = ['stream-online', 'stream-offline'] as const;

/** A message, or an event of the log, is not what an event about streams is. Trying again cannot help. */
export class UnreadableEventError extends Error {}

/** What the platform says when a stream begins; of its end, `id` (since 2026-06) and the broadcaster only. */
interface StreamPayload {
  id?: unknown;
  broadcaster_user_id?: unknown;
  broadcaster_user_login?: unknown;
  broadcaster_user_name?: unknown;
  type?: unknown;
  started_at?: unknown;
}

/** The parts of an event that count here. */
type EventParts = Pick<StoredEvent, 'id' | 'eventId' | 'eventType' | 'origin' | 'occurredAt'> & {
  data: unknown;
};

/**
 * Reads a message of the EVENTS stream.
 *
 * @returns null for what the platform did not say: what clients added by hand or as a test is nobody's going on or off
 * @throws UnreadableEventError
 */
export function parseStreamMessage(message: Pick<JsMsg, 'headers' | 'string'>): StreamEvent | null {
  const record = parseJson(message.string());
  if (!isJsonObject(record)) throw new UnreadableEventError('the message is no JSON object');
  const { id, event_id: eventId, event_type: eventType, origin } = record;
  if (origin !== 'platform' || eventId === null) return null;
  if (!isTextWithin(id, 36, 36) || typeof eventId !== 'string' || typeof eventType !== 'string')
    throw new UnreadableEventError('the message is no event record');
  const occurredAt = Date.parse(message.headers?.get(occurredAtHeader) ?? '');
  return readStreamEvent({ id, eventId, eventType, origin, occurredAt, data: record.event_data });
}

/**
 * Reads an event of the log, as a message of the stream is read.
 *
 * @throws UnreadableEventError
 */
export function parseStoredEvent({ eventData, ...event }: StoredEvent): StreamEvent | null {
  if (event.origin !== 'platform' || event.eventId === null) return null;
  return readStreamEvent({ ...event, data: parseJson(eventData) });
}

function readStreamEvent({ id: eventId, eventType, occurredAt, data }: EventParts): StreamEvent | null {
  if (!isJsonObject(data)) throw new UnreadableEventError('event_data is no object');
  const payload: StreamPayload = data;
  const userId = readText(payload, 'broadcaster_user_id');
  const said = {
    at: readTime(occurredAt) ?? receivedAt(eventId),
    userId,
    userLogin: readOptional(payload, 'broadcaster_user_login'),
  };
  if (eventType === 'stream-offline') {
    const streamId = payload.id === undefined || payload.id === null ? null : readText(payload, 'id');
    return { ...said, kind: 'offline', offline: { eventId, streamId, at: said.at } };
  }
  if (eventType !== 'stream-online') return null;
  const startedAt = readTime(Date.parse(readText(payload, 'started_at')));
  if (startedAt === null) throw new UnreadableEventError('event_data.started_at is no time');
  const stream = {
    eventId,
    streamId: readText(payload, 'id'),
    startedAt,
    type: readOptional(payload, 'type'),
    userId,
    userLogin: said.userLogin,
    userName: readOptional(payload, 'broadcaster_user_name'),
  };
  return { ...said, kind: 'online', stream };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnreadableEventError('the event is no JSON', { cause: error });
  }
}

function readText(payload: StreamPayload, key: keyof StreamPayload): string {
  const value = payload[key];
  if (!isTextWithin(value, 1, 255))
    throw new UnreadableEventError(`event_data.${key} is not text of 1 to 255 characters`);
  return value;
}

/** What nothing follows from must not cost the event. */
function readOptional(payload: StreamPayload, key: keyof StreamPayload): string {
  const value = payload[key];
  return isTextWithin(value, 1, 255) ? value : '';
}

/** Times that a database can hold and that make sense: 2000 to 2200. */
function readTime(value: number | null | undefined): Milliseconds | null {
  const isTime = value != null && value >= Date.UTC(2000, 0) && value < Date.UTC(2200, 0);
  return isTime ? value : null;
}
