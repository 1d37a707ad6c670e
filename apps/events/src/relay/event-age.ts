import { receivedAt } from '@stream-events/contracts';

/**
 * Returns the age in seconds of the oldest event, by the times in the ids. Returns 0 when clocks differ so much that the age would be
 * negative.
 */
export function oldestAgeSeconds(events: readonly { id: string }[], now: number): number {
  let oldest = now;
  for (const { id } of events) oldest = Math.min(oldest, receivedAt(id));
  return (now - oldest) / 1_000;
}
