import { hash } from 'node:crypto';
import { parseIngestMessage, type NewEvent } from '@stream-events/contracts';
import { v7 as uuidV7 } from 'uuid';

const unreadableType = 'unreadable-ingest-message';
const unreadableSource = 'INGEST';

/** The event from an INGEST message. If the message cannot be read, `event` wraps its payload and `fault` holds the error. */
export interface ReadMessage {
  event: NewEvent;
  fault?: unknown;
}

/**
 * Reads the event in the payload of a message. Wraps a payload that cannot be read, for example one from a newer gateway, in an event. The
 * caller stores that event as a dead letter.
 */
export function readOrWrap(payload: Uint8Array): ReadMessage {
  try {
    return { event: parseIngestMessage(payload) };
  } catch (fault) {
    return { event: wrapUnreadable(payload), fault };
  }
}

/**
 * Creates an event whose data is the payload, so that an owner can inspect it. Identical payloads get the same key, so they become one dead
 * letter.
 */
export function wrapUnreadable(payload: Uint8Array): NewEvent {
  return {
    id: uuidV7(),
    eventId: null,
    eventType: unreadableType,
    eventSource: unreadableSource,
    origin: 'platform',
    eventData: Buffer.from(payload).toString(),
    idempotencyKey: `unreadable ${hash('sha256', payload, 'hex')}`,
  };
}

/**
 * Returns the event itself, or parses the payload that `readOrWrap` wrapped.
 *
 * @throws TypeError, SyntaxError, or ServiceError `invalid` when the payload still cannot be read
 */
export function unwrap(event: NewEvent): NewEvent {
  return isUnreadable(event) ? parseIngestMessage(Buffer.from(event.eventData)) : event;
}

/**
 * Returns the event data of a dead letter. For a wrapped payload that is still unreadable, extracts the part that looks like event data.
 * Falls back to the whole payload.
 */
export function unwrapText(event: NewEvent): string {
  if (!isUnreadable(event)) return event.eventData;
  const [, raw] = /"eventData"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"/s.exec(event.eventData) ?? [];
  if (raw === undefined) return event.eventData;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return event.eventData;
  }
}

function isUnreadable({ eventType, eventSource }: NewEvent): boolean {
  return eventType === unreadableType && eventSource === unreadableSource;
}
