import { occurredAtHeader, printEventRecord, type StoredEvent } from './event-record.js';
import { eventSubject } from './event-subject.js';

/** A stored event with the broadcaster that its subject names. */
export interface PublishableEvent extends StoredEvent {
  broadcasterUserId: string | null;
}

/** An event as a message of the EVENTS stream. The message id is the event's id: subscribers deduplicate by it. */
export function toEventMessage(event: PublishableEvent) {
  return {
    subject: eventSubject(event.origin, event.eventType, event.broadcasterUserId),
    messageId: event.id,
    payload: printEventRecord(event),
    ...(event.occurredAt != null && {
      headers: { [occurredAtHeader]: new Date(event.occurredAt).toISOString() },
    }),
  };
}
