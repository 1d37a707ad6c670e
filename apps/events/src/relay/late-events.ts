import { firstIdAt } from '@stream-events/contracts';

/**
 * Maximum time from receipt to publishing in normal operation. Outages of PostgreSQL or NATS, lost events, and dead letters can cause
 * longer delays.
 */
export const maxPublishingDelayMs = 3_600_000;

/**
 * Whether an event is published so late that it could outlive its copy in the store. On the stream, an event's age counts from publishing.
 */
export function includesLateEvent(events: readonly { id: string }[], now: number): boolean {
  const firstOnTime = firstIdAt(now - maxPublishingDelayMs);
  return events.some(({ id }) => id < firstOnTime);
}
