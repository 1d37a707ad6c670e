import { withoutColumns } from './store-event-batch.contract.js';
import { parseNewEvent, type NewEvent } from './new-event.js';

/** JetStream work queue for platform messages that a gateway or platform connector received but could not store. */
export const ingestStreamName = 'INGEST';

/** The only subject of the INGEST stream. One suffices, because every consumer reads all messages. */
export const ingestSubject = 'ingest.events';

/**
 * Prints a message for the INGEST stream. Omits the columns: the service that stores the message can have another version, which derives
 * them by other rules.
 */
export function printIngestMessage(event: NewEvent): string {
  return JSON.stringify(withoutColumns(event));
}

/**
 * Parses a message from the INGEST stream.
 *
 * @throws TypeError, SyntaxError or ServiceError `invalid` if the payload is not an event; the message says why
 */
export function parseIngestMessage(payload: Uint8Array): NewEvent {
  // Without `fatal`, the decoder would replace invalid bytes and change the event.
  return parseNewEvent(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload)));
}
