import { receivedAt } from '@stream-events/contracts';

/**
 * Returns the age of the oldest of these events in seconds, by the times in their ids. Returns 0 when clock differences would make the age
 * negative.
 */
export function oldestAgeSeconds(events: readonly { id: string }[], now: number): number {
  let oldest = now;
  for (const { id } of events) oldest = Math.min(oldest, receivedAt(id));
  return (now - oldest) / 1_000;
}
