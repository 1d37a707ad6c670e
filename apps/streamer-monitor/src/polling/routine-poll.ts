import { rename, type MonitoredStreamer } from '../streams/monitored-streamers.repository.js';
import { listingLagMs, type Milliseconds } from '../streams/stream-facts.js';
import type { RecordedStream, SeenStream } from '../streams/streams.repository.js';

/** The platform's reply about one streamer. */
export interface Poll {
  /** The time of the request to the platform. */
  at: Milliseconds;
  /** Null when the platform lists no stream of the streamer. */
  stream: SeenStream | null;
  /** The claim under which the streamer was polled. */
  claimedUntil: Milliseconds | null;
}

/**
 * Whether this poll or a later one is already recorded. The poll of a claim that the streamer still has is the latest one, even if its time
 * is earlier because a clock was set back.
 */
export function isOutdated({ polledAt, nextPollAt }: MonitoredStreamer, { at, claimedUntil }: Poll): boolean {
  return polledAt !== null && polledAt >= at && nextPollAt !== claimedUntil;
}

/**
 * Whether a poll changes nothing: the same stream is still running, or there is still none. Nearly all polls change nothing, and are
 * recorded for a whole batch in one step.
 */
export function isRoutine(
  streamer: MonitoredStreamer,
  latest: RecordedStream | undefined,
  poll: Poll,
): boolean {
  if (isOutdated(streamer, poll)) return false;
  return poll.stream
    ? isStillRunning(streamer, latest, poll) && renameByPoll(streamer, poll) === streamer
    : isStillAbsent(streamer, latest);
}

function isStillRunning(
  streamer: MonitoredStreamer,
  latest: RecordedStream | undefined,
  { stream }: Poll,
): boolean {
  return (
    streamer.isStreamingKnown &&
    streamer.streaming &&
    streamer.absentSince === null &&
    latest?.streamId === stream?.streamId &&
    latest?.endedAt === null &&
    latest.seenAt !== null &&
    latest.missedAt === null
  );
}

function isStillAbsent(streamer: MonitoredStreamer, latest: RecordedStream | undefined): boolean {
  return !streamer.streaming && (latest === undefined || (latest.endedAt !== null && latest.isMissConfirmed));
}

/**
 * Returns the streamer with the username in the poll. The platform's list can be minutes old, so a poll does not undo a name that was
 * reported a few minutes before the poll.
 */
export function renameByPoll(streamer: MonitoredStreamer, { stream, at }: Poll): MonitoredStreamer {
  return stream ? rename(streamer, stream.userLogin, at - listingLagMs) : streamer;
}
