import { withoutColumns } from './store-event-batch.contract.js';
import { parseNewEvent, type NewEvent } from './store-events.contract.js';

/** JetStream work queue for platform messages that a gateway or platform connector received but could not store. */
export const ingestStreamName = 'INGEST';

/** The only subject of the INGEST stream. One suffices, because every consumer reads all messages. */
export const ingestSubject = 'ingest.events';

/** Name of the INGEST stream in version 0.1.0. The events service drains this stream and then deletes it. */
export const intakeStreamName = 'INTAKE';

/** Gateways of version 0.1.0 publish on this subject during a rolling upgrade. */
export const intakeSubject = 'intake.events';

/**
 * Prints a message for the INGEST stream, in the format that version 0.1.0 used on INTAKE. Omits the columns: the service that stores the
 * message can have another version, which derives them by other rules.
 */
export function printIngestMessage(event: NewEvent): string {
  return JSON.stringify(withoutColumns(event));
}

/**
 * Parses a message from the INGEST or INTAKE stream.
 *
 * @throws TypeError, SyntaxError or ServiceError `invalid` if the payload is not an event; the message says why
 */
export function parseIngestMessage(payload: Uint8Array): NewEvent {
  // Without `fatal`, the decoder would replace invalid bytes and change the event.
  return parseNewEvent(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload)));
}
