import { confirmMissAfterMs, type Milliseconds } from '../streams/stream-facts.js';
import type { RecordedStream } from '../streams/streams.repository.js';

/** Maximum time from a poll until the streamer is due again. Less than a minute, because charts show viewers per minute. */
export const pollIntervalMs = 45_000;

/** Once a streamer is due, a poll also takes those that become due within this time, so that batches stay full. */
export const pollAheadMs = 5_000;

/** How often to look up a streamer's username. */
export const usernameRefreshIntervalMs = 15 * 60_000;

// How long after a first miss the next poll is due. The second miss must count even if that poll comes early, and the extra 0.5 s allows
// for clocks that differ between instances.
const pollAfterMissMs = confirmMissAfterMs + pollAheadMs + 500;
// Minimum time between polls for a stream that the platform does not list yet.
const minListingRetryMs = 2_000;

/**
 * Returns after how many milliseconds a polled streamer is due again.
 *
 * A stream that an event has announced has no title until the platform lists it, which takes from a second to minutes. Retries follow about
 * 2, 4, 8, 16, and 32 s after the start, then at the poll interval. The retries make about five extra lookups per stream, and a few more
 * when other batches include the streamer early.
 */
export function nextPollInMs(
  latest: Pick<RecordedStream, 'startedAt' | 'endedAt' | 'seenAt'> | undefined,
  { at, isInDoubt }: { at: Milliseconds; isInDoubt: boolean },
): number {
  if (latest?.endedAt !== null) return pollIntervalMs;
  if (isInDoubt) return pollAfterMissMs;
  if (latest.seenAt !== null) return pollIntervalMs;
  return Math.min(Math.max(at - latest.startedAt, minListingRetryMs), pollIntervalMs);
}
