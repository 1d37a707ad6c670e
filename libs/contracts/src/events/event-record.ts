/** Where an event came from: the platform (or a client that posted it as such), or a test. */
export const eventOrigins = ['platform', 'test'] as const;
export type EventOrigin = (typeof eventOrigins)[number];

/** The origin that an event says when it is delivered live once more. Nothing is stored with it. */
export const replayOrigin = 'replay';

/** An event as the services hand it to each other. `eventData` is JSON text, exactly as it was received. */
export interface StoredEvent {
  /** UUIDv7, minted when the event was received: its first 48 bits are the time. */
  id: string;
  eventId: string | null;
  eventType: string;
  eventSource: string;
  origin: EventOrigin;
  eventData: string;
  /** When it happened by the platform's own clock, in milliseconds since 1970; absent or null where nobody said. */
  occurredAt?: number | null | undefined;
}

/**
 * The NATS header that says on the EVENTS stream when an event happened by the platform's own clock: ISO 8601 in UTC with
 * milliseconds. Only events of the platform have it. The record says when it was received, which a retry makes later.
 */
export const occurredAtHeader = 'Occurred-At';

/**
 * Prints the public event record: what HTTP clients get and what the EVENTS stream carries.
 * `event_data` is spliced in as text, so key order, big numbers and escapes survive.
 */
export function printEventRecord(event: StoredEvent): string {
  return printRecordOf(event, event.origin);
}

/** Prints the record of an event that goes out again: as it was then, but for its origin. */
export function printReplayedEventRecord(event: StoredEvent): string {
  return printRecordOf(event, replayOrigin);
}

/** When the event was received: milliseconds since 1970, read from its id. */
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

/** The last time that a UUIDv7 can hold, in 48 bits: the year 10889. */
export const lastMillisecond = 2 ** 48 - 1;

/** The smallest id that an event received at this millisecond can have; for ranges of time, whose ends it clamps. */
export function firstIdAt(milliseconds: number): string {
  const hex = Math.min(Math.max(milliseconds, 0), lastMillisecond).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`;
}

function printCreated(event: StoredEvent): string {
  const iso = new Date(receivedAt(event.id)).toISOString();
  // Stored events to the second with +0000, test events to the microsecond with +00:00.
  return event.origin === 'test' ? `${iso.slice(0, 23)}000+00:00` : `${iso.slice(0, 19)}+0000`;
}
