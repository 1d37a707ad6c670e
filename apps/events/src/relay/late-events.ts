import { firstIdAt } from '@stream-events/contracts';

/**
 * An event reaches the EVENTS stream within this time after it was received, unless PostgreSQL or NATS was unavailable, the stream has
 * lost events, or the event was a dead letter.
 */
export const maxPublishingDelayMs = 3_600_000;

/**
 * Whether one of the events is published so late that the event could stay on the stream longer than in the store. The stream counts the
 * age of an event from the time of publishing.
 */
export function includesLateEvent(events: readonly { id: string }[], now: number): boolean {
  const firstOnTime = firstIdAt(now - maxPublishingDelayMs);
  return events.some(({ id }) => id < firstOnTime);
}
