import { rename, type MonitoredStreamer } from '../streams/monitored-streamers.repository.js';
import { listingLagMs, type Milliseconds } from '../streams/stream-facts.js';
import type { RecordedStream, SeenStream } from '../streams/streams.repository.js';

/** The platform's reply about one streamer. */
export interface Poll {
  /** When the platform was asked. */
  at: Milliseconds;
  /** Null when the platform lists no stream for the streamer. */
  stream: SeenStream | null;
  /** The end of the claim under which the streamer was polled; null without a claim. */
  claimedUntil: Milliseconds | null;
}

/**
 * Whether this or a later poll is already recorded. While the streamer is still under this poll's claim, this poll is the latest, even if
 * its time is earlier because a clock was set back.
 */
export function isOutdated({ polledAt, nextPollAt }: MonitoredStreamer, { at, claimedUntil }: Poll): boolean {
  return polledAt !== null && polledAt >= at && nextPollAt !== claimedUntil;
}

/**
 * Whether a poll changes neither the streamer's state nor the username: the same stream is still running, or there is still none. Nearly
 * all polls are routine, so a whole batch of them can be recorded at once.
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
 * Returns the streamer with the poll's username. The platform's list can lag by minutes, so a poll does not undo a name that was reported
 * shortly before it.
 */
export function renameByPoll(streamer: MonitoredStreamer, { stream, at }: Poll): MonitoredStreamer {
  return stream ? rename(streamer, stream.userLogin, at - listingLagMs) : streamer;
}
