import { occurredAtHeader, printEventRecord, type StoredEvent } from './event-record.js';
import { eventSubject, subjectChannel } from './event-subject.js';
import type { EventColumns } from './filter-columns.js';

/** A stored event with the columns that its subject needs. */
export interface PublishableEvent extends StoredEvent, Pick<EventColumns, 'broadcasterUserId' | 'raidToId'> {}

/** Returns an event as a message of the EVENTS stream. The message id is the event's id, so that subscribers can deduplicate. */
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
