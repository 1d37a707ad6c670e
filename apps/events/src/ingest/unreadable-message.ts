import { hash } from 'node:crypto';
import { parseIngestMessage, type NewEvent } from '@stream-events/contracts';
import { v7 as uuidV7 } from 'uuid';

const unreadableType = 'unreadable-ingest-message';
const unreadableSource = 'INGEST';

/**
 * A message of the INGEST stream that is no event (of a newer gateway, say), as one that can be parked: an owner sees what
 * came as its data. The same bytes are parked once.
 */
export function wrapUnreadable(payload: Uint8Array): NewEvent {
  return {
    id: uuidV7(),
    eventId: null,
    eventType: unreadableType,
    eventSource: unreadableSource,
    origin: 'platform',
    eventData: Buffer.from(payload).toString(),
    idempotencyKey: `unreadable ${hash('sha256', payload, 'hex')}`,
  };
}

/**
 * The event that a parked one stands for: itself, or what an unreadable message turns out to be now.
 *
 * @throws ServiceError `invalid` when it still cannot be read
 */
export function unwrap(event: NewEvent): NewEvent {
  const isUnreadable = event.eventType === unreadableType && event.eventSource === unreadableSource;
  return isUnreadable ? parseIngestMessage(Buffer.from(event.eventData)) : event;
}
