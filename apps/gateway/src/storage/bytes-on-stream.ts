import {
  eventSubject,
  printEventRecord,
  readEventColumns,
  subjectChannel,
  type EventWithColumns,
} from '@stream-events/contracts';

// Bytes that nats-server adds to a stored message: the lengths and the time (22 bytes), the length of the headers (4), a checksum (8), and
// the header `Nats-Msg-Id` with its frame (63).
const overheadBytes = 22 + 4 + 8 + 63;

/** Returns how many bytes a client's event uses on the EVENTS stream, as nats-server counts bytes for the stream's size limit. */
export function bytesOnStream(event: EventWithColumns): number {
  const columns = event.columns ?? readEventColumns(event.eventType, event.eventData);
  const subject = eventSubject(event.origin, event.eventType, subjectChannel(columns));
  return overheadBytes + subject.length + Buffer.byteLength(printEventRecord(event));
}
