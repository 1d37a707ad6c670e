import { hash } from 'node:crypto';
import type { NewEvent } from '@stream-events/contracts';

/**
 * Returns the deduplication key of a message, 128 bits in the form of a UUID. Messages with the same key count as the same message. If the
 * platform gave a message id, the key depends on this id alone, because a redelivery may carry another timestamp. Without a message id, the
 * key depends on the idempotency key. Without either, the key is the event's own id.
 */
export function receivedMessageKey(event: NewEvent): string {
  if (event.origin === 'platform' && event.eventId !== null) return keyOf('message', event.eventId);
  if (event.idempotencyKey !== null) return keyOf('idempotency-key', event.idempotencyKey);
  return event.id.toLowerCase();
}

function keyOf(kind: string, value: string): string {
  const hex = hash('sha256', `${kind}\0${value}`, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
