import { occurredAtHeader, printEventRecord, type StoredEvent } from './event-record.js';
import { eventSubject, subjectChannel } from './event-subject.js';
import type { EventColumns } from './filter-columns.js';

/** A stored event with the columns that its subject needs. */
export interface PublishableEvent extends StoredEvent, Pick<EventColumns, 'broadcasterUserId' | 'raidToId'> {}

/** Converts an event to a message on the EVENTS stream. Subscribers can deduplicate by the message id, which is the event's id. */
export function toEventMessage(event: PublishableEvent) {
  return {
    subject: eventSubject(event.origin, event.eventType, subjectChannel(event)),
    messageId: event.id,
    payload: printEventRecord(event),
    ...(event.occurredAt != null && {
      headers: { [occurredAtHeader]: new Date(event.occurredAt).toISOString() },
    }),
  };
}
