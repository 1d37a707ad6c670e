import { receivedAt } from '@stream-events/contracts';

/** The age of the oldest of these events in seconds, by the times in their ids. At least 0, because clocks of machines differ. */
export function oldestAgeSeconds(events: readonly { id: string }[], now: number): number {
  let oldest = now;
  for (const { id } of events) oldest = Math.min(oldest, receivedAt(id));
  return (now - oldest) / 1_000;
}
