import { hash } from 'node:crypto';
import { parseIngestMessage, type NewEvent } from '@stream-events/contracts';
import { v7 as uuidV7 } from 'uuid';

const unreadableType = 'unreadable-ingest-message';
const unreadableSource = 'INGEST';
// The event type and source that version 0.1.0 gave to unreadable messages.
const formerType = 'unreadable-intake-message';
const formerSource = 'INTAKE';

/**
 * The event in a message from the INGEST stream. If the message cannot be read, `fault` is the error, and the event wraps the payload of
 * the message.
 */
export interface ReadMessage {
  event: NewEvent;
  fault?: unknown;
}

/**
 * Reads the event in the payload of a message. If the payload cannot be read (for example, because a newer gateway sent it), returns an
 * event that wraps the payload. The caller keeps this event as a dead letter.
 */
export function readOrWrap(payload: Uint8Array): ReadMessage {
  try {
    return { event: parseIngestMessage(payload) };
  } catch (fault) {
    return { event: wrapUnreadable(payload), fault };
  }
}

/**
 * Creates an event whose data is the payload, so that an owner can inspect it. Equal payloads have the same key and become one dead
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
 * Returns the event of a dead letter: the event itself, or the event in the payload that `readOrWrap` wrapped.
 *
 * @throws ServiceError `invalid` when the payload still cannot be read
 */
export function unwrap(event: NewEvent): NewEvent {
  return isUnreadable(event) ? parseIngestMessage(Buffer.from(event.eventData)) : event;
}

/**
 * Returns the event data of a dead letter. If a wrapped payload still cannot be read, returns the part of the payload that looks like event
 * data. If there is no such part, returns the whole payload.
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
  return (
    (eventType === unreadableType && eventSource === unreadableSource) ||
    (eventType === formerType && eventSource === formerSource)
  );
}
