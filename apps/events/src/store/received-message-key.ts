import { createHash } from 'node:crypto';
import type { NewEvent } from '@stream-events/contracts';

/**
 * What makes two messages the same one, as 128 bits in the form of a UUID: the platform's message id alone (a
 * redelivery may carry another timestamp), else the idempotency key, else the event's own id.
 */
export function receivedMessageKey(event: NewEvent): string {
  if (event.origin === 'platform' && event.eventId !== null) return hash('message', event.eventId);
  if (event.idempotencyKey !== null) return hash('idempotency-key', event.idempotencyKey);
  return event.id;
}

function hash(kind: string, value: string): string {
  const hex = createHash('sha256').update(`${kind}\0${value}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
