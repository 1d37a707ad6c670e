import { parseNewEvent, type NewEvent } from './store-events.contract.js';

/** The JetStream work queue of platform messages that were accepted although they could not be stored at once. */
export const ingestStreamName = 'INGEST';

/** The one subject of its messages: whoever drains the queue takes all of them. */
export const ingestSubject = 'ingest.events';

/** The payload of a message on the stream. */
export function printIngestMessage(event: NewEvent): string {
  return JSON.stringify(event);
}

/**
 * Reads the payload of a message on the stream.
 *
 * @throws TypeError, SyntaxError or ServiceError `invalid` when it is no event; the message says why
 */
export function parseIngestMessage(payload: Uint8Array): NewEvent {
  // Fatal: bytes that are not UTF-8 would be read as something that nobody has sent.
  return parseNewEvent(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload)));
}
