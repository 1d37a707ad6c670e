import { parseTime } from '../kit/parse-time.js';
import { printDuration } from '../kit/print-number.js';
import type { StreamSample } from './stream-queries.js';

/** In milliseconds since 1970. */
export interface TimeRange {
  start: number;
  end: number;
}

/** Viewers, title, and category from `at` until the next sample. */
export interface Sample {
  at: number;
  viewers: number;
  title: string;
  category: string;
}

/** A part of the stream with the same title or category. */
export interface Band extends TimeRange {
  text: string;
}

const dayClock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const exactClock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' });

/** Formats the local time of day, by default without seconds. */
export function printClock(at: number, precision: 'minutes' | 'seconds' = 'minutes'): string {
  return (precision === 'minutes' ? dayClock : exactClock).format(at);
}

export function printDay(at: number): string {
  return day.format(at);
}

/** Formats a stream's duration in whole minutes. */
export function printStreamDuration(seconds: number): string {
  return seconds < 60 ? 'under a minute' : printDuration(Math.floor(seconds / 60) * 60);
}

/** Parses samples and drops those after the stream's end: the platform can list an ended stream for minutes. */
export function readSamples(history: readonly StreamSample[], { end }: TimeRange): Sample[] {
  return history
    .map(({ at, viewer_count, title, game_name }) => ({
      at: parseTime(at).getTime(),
      viewers: viewer_count,
      title,
      category: game_name,
    }))
    .filter(({ at }) => at <= end);
}

/** Returns the sample that is valid at `at`: the last one that is not later. */
export function sampleAt(samples: readonly Sample[], at: number): Sample | undefined {
  return samples.findLast((sample) => sample.at <= at);
}

/** Splits the stream wherever the title or category changes. Oldest part first. */
export function bandsOf(samples: readonly Sample[], end: number, field: 'title' | 'category'): Band[] {
  const changes = samples.filter((sample, index) => sample[field] !== samples[index - 1]?.[field]);
  return changes.map((sample, index) => ({
    text: sample[field],
    start: sample.at,
    end: changes[index + 1]?.at ?? end,
  }));
}

/** Returns a time's position in the range, from 0 to 1. */
export function shareOf(at: number, { start, end }: TimeRange): number {
  return Math.min(Math.max((at - start) / Math.max(end - start, 1), 0), 1);
}
