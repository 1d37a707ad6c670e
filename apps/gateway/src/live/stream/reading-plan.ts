import type { StreamState } from './events-stream-client.js';
import type { FeedTrack } from './feed-track.js';
import type { GapReason } from '../gap-reasons.js';
import { maxRingBufferEvents } from '../live-limits.js';

/** How to continue reading. */
export type ReadingPlan =
  /** The stream cannot be read now, for the reason `cause`. */
  | { kind: 'wait'; cause: string }
  /** Continue after the last message, with the same track. */
  | { kind: 'continue'; track: FeedTrack; from: number }
  /**
   * Start over: read the messages up to `silentUntil` without delivering them. Then, if `reason` is set, report the interruption to
   * clients.
   */
  | { kind: 'begin'; epoch: string; from: number; silentUntil: number; reason: GapReason | undefined };

// Number of messages to read when the process starts: enough for clients that reconnect after a restart, but few enough to read within a
// second.
const preloaded = 5_000;
// Number of messages to read when the epoch changes: a full ring buffer, because events that were not delivered in the previous epoch can
// be anywhere in it.
const reloaded = maxRingBufferEvents;

/** Why to wait while the stream ends before the last message that was read. */
export const lostEnd =
  'the EVENTS stream has lost its tail: waiting for the events service to set a new epoch';

/**
 * Decides how to continue, by comparing the stream with what was read from it. E is an epoch.
 *
 * ```
 * read │ stream                          │ plan
 * any  │ missing, or without an epoch    │ wait
 * -    │ E                               │ begin at the newest 5,000 messages, silently (first start)
 * E    │ another epoch                   │ begin at the newest 20,000 messages, silently, then other_epoch
 * E    │ E, ends before the last message │ wait: the events service has not noticed the loss yet
 * E    │   that was read                 │
 * E    │ E, begins after the next one    │ begin at its first message, then expired
 * E    │ E                               │ continue with the last message that was read
 * ```
 */
export function planReading(read: FeedTrack | undefined, found: StreamState | undefined): ReadingPlan {
  if (!found) return { kind: 'wait', cause: 'the EVENTS stream does not exist (yet)' };
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
  return { kind: 'continue', track: read, from: Math.max(read.resumeSequence, firstSequence) };
}
