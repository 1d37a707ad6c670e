import { confirmMissAfterMs, type Milliseconds } from '../streams/stream-facts.js';
import type { RecordedStream } from '../streams/streams.repository.js';

/**
 * The poll interval: a streamer is due again this long after a poll. The interval is less than a minute, because charts show viewers by the
 * minute.
 */
export const pollIntervalMs = 45_000;

/** When one streamer is due, a poll also takes the streamers that are due within this time, so that batches stay full. */
export const pollAheadMs = 5_000;

/** The interval between look-ups of a streamer's username. */
export const usernameRefreshIntervalMs = 15 * 60_000;

// The interval from a first miss to the next poll. The second miss must count even if the poll is made ahead of time. The extra 0.5 s
// allows for clocks that differ between instances.
const pollAfterMissMs = confirmMissAfterMs + pollAheadMs + 500;
// The shortest interval between polls for a stream that the platform does not list yet.
const minListingRetryMs = 2_000;

/**
 * Returns how many milliseconds after a poll the streamer is due again.
 *
 * A stream that an event has announced has no title until the platform lists it, which takes from a second to minutes. The retries follow
 * at about 2, 4, 8, 16, and 32 s after the start, then at the poll interval: about five extra look-ups per stream, and a few more when
 * batches of other streamers include the streamer ahead of time.
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
