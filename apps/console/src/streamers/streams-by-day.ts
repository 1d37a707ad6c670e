import { parseTime } from '../kit/parse-time.js';
import type { Stream } from '../streams/stream-queries.js';

// Swedish dates are ISO 8601 dates.
const isoDay = new Intl.DateTimeFormat('sv-SE');
const hour = 3_600;

/** The streams that began on a day. */
export interface DayOfStreams {
  /** Newest first. */
  streams: readonly Stream[];
  /** How long they took together. */
  seconds: number;
}

/** The day of a time in the reader's time zone: `2026-11-21`. */
export function toDay(at: number): string {
  return isoDay.format(at);
}

/** How long a stream took, or has taken until now. */
export function secondsOf({ started_at, ended_at }: Stream, now: number): number {
  const end = ended_at === null ? now : parseTime(ended_at).getTime();
  return Math.max(end - parseTime(started_at).getTime(), 0) / 1_000;
}

/** Groups streams by the day on which they began, in the reader's time zone. */
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

/** How dark the calendar shows a day, from 1 to 4: up to 2, 4, 6 hours, and more. */
export function levelOf(seconds: number): number {
  return Math.min(Math.max(Math.ceil(seconds / (2 * hour)), 1), 4);
}
