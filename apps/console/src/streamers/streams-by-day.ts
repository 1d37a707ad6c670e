import { parseTime } from '../kit/parse-time.js';
import type { Stream } from '../streams/stream-queries.js';

// The Swedish locale formats dates as ISO 8601.
const isoDay = new Intl.DateTimeFormat('sv-SE');
const hour = 3_600;

/** Streams that began on the same day. */
export interface DayOfStreams {
  /** Newest first. */
  streams: readonly Stream[];
  /** Total duration of the streams. */
  seconds: number;
}

/** Returns the local date: `2026-11-21`. */
export function toDay(at: number): string {
  return isoDay.format(at);
}

/** Returns a stream's duration in seconds. A running stream counts until now. */
export function secondsOf({ started_at, ended_at }: Stream, now: number): number {
  const end = ended_at === null ? now : parseTime(ended_at).getTime();
  return Math.max(end - parseTime(started_at).getTime(), 0) / 1_000;
}

/** Groups streams by the local date on which they began. */
export function groupByDay(streams: readonly Stream[], now: number): Map<string, DayOfStreams> {
  const days = new Map<string, DayOfStreams>();
  for (const stream of streams) {
    const day = toDay(parseTime(stream.started_at).getTime());
    const known = days.get(day) ?? { streams: [], seconds: 0 };
    days.set(day, {
      streams: [...known.streams, stream],
      seconds: known.seconds + secondsOf(stream, now),
    });
  }
  return days;
}

/** Returns the shade of a day: 1 for up to 2 hours of streams, 2 for up to 4, 3 for up to 6, and 4 for more. */
export function levelOf(seconds: number): number {
  return Math.min(Math.max(Math.ceil(seconds / (2 * hour)), 1), 4);
}
