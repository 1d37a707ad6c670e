/** The origin of an event. `platform`: the platform, or a client that posted a platform event. `test`: a test event. */
export const eventOrigins = ['platform', 'test'] as const;
export type EventOrigin = (typeof eventOrigins)[number];

/** The origin in the record of a replayed event. Stored events never have this origin. */
export const replayOrigin = 'replay';

/** An event as services exchange it. `eventData` is JSON text, exactly as it was received. */
export interface StoredEvent {
  /** UUIDv7, generated when the event was received. The first 48 bits are the time of receipt. */
  id: string;
  eventId: string | null;
  eventType: string;
  eventSource: string;
  origin: EventOrigin;
  eventData: string;
  /** When the event happened by the platform's clock, in milliseconds since 1970; absent or null when the time is unknown. */
  occurredAt?: number | null | undefined;
}

/**
 * The NATS header on the EVENTS stream that says when an event happened, by the platform's clock: ISO 8601 in UTC, with milliseconds. Only
 * events from the platform have this header. The record contains the time of receipt instead, which can be much later when the platform
 * redelivers a message.
 */
export const occurredAtHeader = 'Occurred-At';

/**
 * Prints the public event record, which HTTP clients receive and the EVENTS stream carries. Inserts `event_data` as text, so that key
 * order, big numbers, and escapes stay as the sender wrote them.
 */
export function printEventRecord(event: StoredEvent): string {
  return printRecordOf(event, event.origin);
}

/** Prints the record of a replayed event: the same record with the origin `replay`. */
export function printReplayedEventRecord(event: StoredEvent): string {
  return printRecordOf(event, replayOrigin);
}

/** Returns the time when an event was received, in milliseconds since 1970, from its id. */
export function receivedAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function printRecordOf(event: StoredEvent, origin: string): string {
  const isTest = event.origin === 'test';
  const id = isTest ? 'null' : `"${event.id}"`;
  return (
    `{"id":${id},"event_id":${JSON.stringify(event.eventId)},"event_type":${JSON.stringify(event.eventType)},` +
    `"event_source":${JSON.stringify(event.eventSource)},"event_data":${event.eventData},` +
    `"created":"${printCreated(event)}","origin":"${origin}"}`
  );
}

/** The latest time that fits into the 48 bits of a UUIDv7: in the year 10889. */
export const lastMillisecond = 2 ** 48 - 1;

/** Returns the smallest possible id of an event received at this time, in milliseconds since 1970. Clamps times that no id can hold. */
export function firstIdAt(milliseconds: number): string {
  const hex = Math.min(Math.max(milliseconds, 0), lastMillisecond).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`;
}

/** Prints the time of receipt in the format of the event record. */
export function printCreated(event: StoredEvent): string {
  const iso = new Date(receivedAt(event.id)).toISOString();
  // The API contract: platform events have seconds and +0000, test events have microseconds and +00:00.
  return event.origin === 'test' ? `${iso.slice(0, 23)}000+00:00` : `${iso.slice(0, 19)}+0000`;
}
