import { withoutColumns } from './store-event-batch.contract.js';
import { parseNewEvent, type NewEvent } from './store-events.contract.js';

/** The JetStream work queue of platform messages that were accepted but could not be stored immediately. */
export const ingestStreamName = 'INGEST';

/** The only subject of the INGEST stream. One subject is enough, because every consumer of the stream reads all messages. */
export const ingestSubject = 'ingest.events';

/** The name that version 0.1.0 gave the INGEST stream. The events service drains this stream, then deletes it. */
export const intakeStreamName = 'INTAKE';

/** The subject on which gateways of version 0.1.0 publish during a rolling upgrade. */
export const intakeSubject = 'intake.events';

/**
 * Prints the payload of a message on the INGEST stream. Version 0.1.0 used the same format on INTAKE. Omits the columns, because the
 * service that stores the message can have another version, which derives columns by other rules.
 */
export function printIngestMessage(event: NewEvent): string {
  return JSON.stringify(withoutColumns(event));
}

/**
 * Reads the payload of a message on the INGEST or INTAKE stream.
 *
 * @throws TypeError, SyntaxError or ServiceError `invalid` when the payload is not an event; the message says why
 */
export function parseIngestMessage(payload: Uint8Array): NewEvent {
  // Without `fatal`, the decoder would replace invalid bytes, which would change the event.
  return parseNewEvent(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload)));
}
