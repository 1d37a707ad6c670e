import { rename, type MonitoredStreamer } from '../streams/monitored-streamers.repository.js';
import type { Milliseconds } from '../streams/stream-facts.js';
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
 * Whether a poll changes nothing: the same stream is still running, or there is still none. Nearly all polls change nothing, and are
 * recorded for a whole batch in one step.
 */
export function isRoutine(
  streamer: MonitoredStreamer,
  latest: RecordedStream | undefined,
  poll: Poll,
): boolean {
  if (streamer.polledAt !== null && streamer.polledAt >= poll.at) return false;
  return poll.stream
    ? isStillRunning(streamer, latest, poll) && !isRenamed(streamer, poll)
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

function isRenamed(streamer: MonitoredStreamer, { stream, at }: Poll): boolean {
  return stream !== null && rename(streamer, stream.userLogin, at) !== streamer;
}
