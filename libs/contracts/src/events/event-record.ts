/** `platform`: the platform sent the event, or a client posted it as a platform event. `test`: a test event. */
export const eventOrigins = ['platform', 'test'] as const;
export type EventOrigin = (typeof eventOrigins)[number];

/** Origin in the record of a replayed event. Stored events never have it. */
export const replayOrigin = 'replay';

/** An event as services exchange it. `eventData` is JSON text exactly as received. */
export interface StoredEvent {
  /** UUIDv7, generated on receipt. Its first 48 bits are the time of receipt. */
  id: string;
  eventId: string | null;
  eventType: string;
  eventSource: string;
  origin: EventOrigin;
  eventData: string;
  /** When the event happened by the platform's clock, in milliseconds since 1970. Absent or null if unknown. */
  occurredAt?: number | null | undefined;
}

/**
 * NATS header on the EVENTS stream: the time when an event happened by the platform's clock, as ISO 8601 in UTC with milliseconds. Absent
 * if this time is unknown, for example for events that clients sent. The record contains only the time of receipt, which can be much later
 * if the platform redelivered the message.
 */
export const occurredAtHeader = 'Occurred-At';

/**
 * Prints the public record of an event, for HTTP clients and the EVENTS stream. Inserts `event_data` as text, so that key order, big
 * numbers, and escapes stay unchanged.
 */
export function printEventRecord(event: StoredEvent): string {
  return printRecordOf(event, event.origin, printCreated(event));
}

/** Prints the record for an export, with the time of receipt in the form that data tools read. */
export function printExportedEventRecord(event: StoredEvent): string {
  return printRecordOf(event, event.origin, printExportedCreated(event));
}

/** Prints the same record with the origin `replay`. */
export function printReplayedEventRecord(event: StoredEvent): string {
  return printRecordOf(event, replayOrigin, printCreated(event));
}

/** Prints what identifies an event in its record, without its content. */
export function printEventReference(event: StoredEvent): string {
  return `{${printReferenceOf(event)}}`;
}

/** Reads the time of receipt from an event's id, in milliseconds since 1970. */
export function receivedAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function printRecordOf(event: StoredEvent, origin: string, created: string): string {
  return (
    `{${printReferenceOf(event)},` +
    `"event_source":${JSON.stringify(event.eventSource)},"event_data":${event.eventData},` +
    `"created":"${created}","origin":"${origin}"}`
  );
}

function printReferenceOf({ id, eventId, eventType, origin }: StoredEvent): string {
  const printedId = origin === 'test' ? 'null' : `"${id}"`;
  return `"id":${printedId},"event_id":${JSON.stringify(eventId)},"event_type":${JSON.stringify(eventType)}`;
}

/** The latest time that fits into the 48 bits of a UUIDv7 (year 10889). */
export const lastMillisecond = 2 ** 48 - 1;

/**
 * Returns a lower bound for the ids of events received at or after this time (milliseconds since 1970). Clamps times that an id cannot
 * hold.
 */
export function firstIdAt(milliseconds: number): string {
  const hex = Math.min(Math.max(milliseconds, 0), lastMillisecond).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`;
}

/** Prints the time of receipt as exports do, with one form for all events: RFC 3339 in UTC with milliseconds. */
export function printExportedCreated({ id }: StoredEvent): string {
  return new Date(receivedAt(id)).toISOString();
}

/** Prints the time of receipt in the record's format. */
function printCreated(event: StoredEvent): string {
  const iso = new Date(receivedAt(event.id)).toISOString();
  // The API fixes the format: platform events have seconds and +0000, test events have microseconds and +00:00.
  return event.origin === 'test' ? `${iso.slice(0, 23)}000+00:00` : `${iso.slice(0, 19)}+0000`;
}
