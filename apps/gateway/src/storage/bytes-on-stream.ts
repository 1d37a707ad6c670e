import {
  eventSubject,
  printEventRecord,
  readEventColumns,
  subjectChannel,
  type EventWithColumns,
} from '@stream-events/contracts';

// What a stored message takes in addition to its subject and its record: lengths, sequence, and time (22 bytes), header length (4),
// checksum (8), and the framed header `Nats-Msg-Id` (63).
const overheadBytes = 22 + 4 + 8 + 63;

/**
 * The size of a client's event on the EVENTS stream, as nats-server counts it toward the stream's size limit. Leaves out the header
 * `traceparent`, which only traced events have.
 */
export function bytesOnStream(event: EventWithColumns): number {
  const columns = event.columns ?? readEventColumns(event.eventType, event.eventData);
  const subject = eventSubject(event.origin, event.eventType, subjectChannel(columns));
  return overheadBytes + subject.length + Buffer.byteLength(printEventRecord(event));
}
