import type { RawFormat } from '../contract.js';
import { ServiceError } from '../errors.js';
import { isJsonObject, type JsonObject } from '../json-object.js';
import type { ListPosition } from '../list-page.js';
import type { ListEventsReply, StoredEventMessage } from './read-events.contract.js';

const lengthBytes = 4;

/**
 * A page as bytes: length of the head (32 bits, big-endian), head as JSON, records as JSON text. API clients receive the records exactly as
 * the events service printed them.
 */
export const listEventsFormat: RawFormat<ListEventsReply> = {
  print({ records, ...head }) {
    const text = JSON.stringify(head);
    const headBytes = Buffer.byteLength(text);
    const bytes = Buffer.allocUnsafe(lengthBytes + headBytes + records.length);
    bytes.writeUInt32BE(headBytes);
    bytes.write(text, lengthBytes);
    bytes.set(records, lengthBytes + headBytes);
    return bytes;
  },

  parse(bytes) {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = buffer.length < lengthBytes ? Infinity : lengthBytes + buffer.readUInt32BE();
    if (end > buffer.length) throw malformed();
    const head = parseHead(buffer.toString('utf8', lengthBytes, end));
    return {
      events: head.events.map(parseEvent),
      next: parsePosition(head.next),
      previous: parsePosition(head.previous),
      records: buffer.subarray(end),
    };
  },
};

function parseHead(text: string): JsonObject & { events: unknown[] } {
  const head = parseJson(text);
  if (!isJsonObject(head) || !Array.isArray(head.events)) throw malformed();
  return { ...head, events: head.events };
}

// Our services never escape names, so JSON.parse reads them correctly (see `parseJson`).
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed();
  }
}

function parsePosition(value: unknown): ListPosition | null {
  if (value === null) return null;
  if (!isJsonObject(value)) throw malformed();
  const { direction, id, inclusive } = value;
  if (
    (direction !== 'older' && direction !== 'newer') ||
    typeof id !== 'string' ||
    typeof inclusive !== 'boolean'
  )
    throw malformed();
  return { direction, id, inclusive };
}

function parseEvent(value: unknown): StoredEventMessage {
  if (!isJsonObject(value)) throw malformed();
  const { id, eventId, eventType, eventSource, origin, eventData, occurredAt = null } = value;
  if (
    typeof id !== 'string' ||
    (eventId !== null && typeof eventId !== 'string') ||
    typeof eventType !== 'string' ||
    typeof eventSource !== 'string' ||
    (origin !== 'platform' && origin !== 'test') ||
    typeof eventData !== 'string' ||
    (occurredAt !== null && typeof occurredAt !== 'number')
  )
    throw malformed();
  return { id, eventId, eventType, eventSource, origin, eventData, occurredAt };
}

function malformed(): ServiceError {
  return new ServiceError('invalid', 'The page of events is malformed.');
}
