import {
  isTextWithin,
  maxSubscriptionLength,
  pickEventColumns,
  ServiceError,
  type Delivery,
  type EventWithColumns,
} from '@stream-events/contracts';
import type { EventMessage } from './inbound-platform.js';

/** How a message reached the service. */
export interface Arrival {
  /** The id of the event, a UUIDv7. */
  id: string;
  /** The platform's message id. */
  messageId: string;
  /** When the platform sent the message, in milliseconds since 1970; null when unknown. */
  occurredAt: number | null;
}

/**
 * Converts a platform message to an event.
 *
 * @throws ServiceError `invalid` when the message id does not have 1 to 255 characters, or when the database cannot store it
 */
export function toPlatformEvent(message: EventMessage, arrival: Arrival): EventWithColumns {
  const { id, messageId, occurredAt } = arrival;
  if (!isTextWithin(messageId, 1, 255))
    throw new ServiceError('invalid', 'The message id must have 1 to 255 characters.');
  const eventType = message.kind === 'revocation' ? 'subscription-revocation' : message.eventType;
  return {
    id,
    eventId: messageId,
    eventType,
    eventSource: 'PlatformSub',
    origin: 'platform',
    eventData: message.eventData,
    idempotencyKey: null,
    occurredAt,
    columns: pickEventColumns(eventType, message.data),
    delivery: readDelivery(message),
  };
}

/**
 * Returns undefined when the message does not describe its subscription, or when the subscription's key is too long. Also returns undefined
 * for a revocation, because each subscription gets its own revocation.
 */
function readDelivery(message: EventMessage): Delivery | undefined {
  if (message.kind !== 'notification' || message.subscription === null) return undefined;
  const { subscription } = message;
  return isTextWithin(subscription, 1, maxSubscriptionLength) ? { subscription } : undefined;
}
