import type { StreamState } from './events-stream-client.js';
import type { FeedTrack } from './feed-track.js';
import type { GapReason } from '../gap-reasons.js';
import { maxRingBufferEvents } from '../live-limits.js';

/** How to go on reading. */
export type ReadingPlan =
  /** Not now: because of this. */
  | { kind: 'wait'; cause: string }
  /** Where it was left: with what was read. */
  | { kind: 'go_on'; track: FeedTrack; from: number }
  /** Anew: up to a sequence in silence, after which clients are told of the interruption, where it is one. */
  | { kind: 'begin'; epoch: string; from: number; silentUntil: number; reason: GapReason | undefined };

// Enough for clients that come back after a restart of this process, and read within a second.
const preloaded = 5_000;
// What was not delivered yet may be anywhere in what a ring has.
const reloaded = maxRingBufferEvents;

/** Why nothing is read while the stream does not have what was read from it. */
export const lostEnd =
  'the EVENTS stream has lost its end: waiting for the events service to give it a new epoch';

/**
 * Compares the stream with what was read of it.
 *
 * ```
 * read │ stream                     │ plan
 * any  │ none, or without an epoch  │ wait
 * -    │ E                          │ begin at its newest 5,000, silently: the first start
 * E    │ another epoch              │ begin at its newest 20,000, silently, then other_epoch
 * E    │ E, ends before what        │ wait: the events service has not noticed yet what it has lost
 * E    │   was read                 │
 * E    │ E, begins after that       │ begin where it begins: expired
 * E    │ E                          │ go on, from the last message that was read
 * ```
 */
export function planReading(read: FeedTrack | undefined, found: StreamState | undefined): ReadingPlan {
  if (!found) return { kind: 'wait', cause: 'there is no EVENTS stream (yet)' };
  const { epoch, firstSequence, lastSequence } = found;
  if (epoch === undefined) return { kind: 'wait', cause: 'the EVENTS stream has no epoch (yet)' };
  if (epoch !== read?.epoch) {
    const from = Math.max(firstSequence, lastSequence - (read ? reloaded : preloaded) + 1);
    return { kind: 'begin', epoch, from, silentUntil: lastSequence, reason: read && 'other_epoch' };
  }
  if (lastSequence < read.nextSequence - 1) return { kind: 'wait', cause: lostEnd };
  if (firstSequence > read.nextSequence)
    return {
      kind: 'begin',
      epoch,
      from: firstSequence,
      silentUntil: firstSequence - 1,
      reason: 'expired',
    };
  return { kind: 'go_on', track: read, from: Math.max(read.resumeSequence, firstSequence) };
}
