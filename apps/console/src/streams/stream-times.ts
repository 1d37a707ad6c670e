import { parseTime } from '../kit/parse-time.js';
import { printDuration } from '../kit/print-number.js';
import type { StreamSample } from './stream-queries.js';

/** A range of time, in milliseconds since 1970. */
export interface TimeRange {
  start: number;
  end: number;
}

/** The viewers, the title, and the category from a time until the next sample. */
export interface Sample {
  at: number;
  viewers: number;
  title: string;
  category: string;
}

/** A part of a stream with the same title, or the same category. */
export interface Band extends TimeRange {
  text: string;
}

const dayClock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const exactClock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' });

/** Prints the time of day in the reader's time zone, by default without seconds. */
export function printClock(at: number, precision: 'minutes' | 'seconds' = 'minutes'): string {
  return (precision === 'minutes' ? dayClock : exactClock).format(at);
}

/** Prints the date of a time in the reader's time zone. */
export function printDay(at: number): string {
  return day.format(at);
}

/** Prints the duration of a stream in whole minutes. */
export function printStreamDuration(seconds: number): string {
  return seconds < 60 ? 'under a minute' : printDuration(Math.floor(seconds / 60) * 60);
}

/** Parses the samples of a stream. Drops samples from after the stream's end, because the platform can list an ended stream for minutes. */
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

/** Returns the sample that is valid at the time `at`: the last sample that is not later. */
export function sampleAt(samples: readonly Sample[], at: number): Sample | undefined {
  return samples.findLast((sample) => sample.at <= at);
}

/** Returns the parts of a stream with the same title or category, oldest first. */
export function bandsOf(samples: readonly Sample[], end: number, field: 'title' | 'category'): Band[] {
  const changes = samples.filter((sample, index) => sample[field] !== samples[index - 1]?.[field]);
  return changes.map((sample, index) => ({
    text: sample[field],
    start: sample.at,
    end: changes[index + 1]?.at ?? end,
  }));
}

/** Returns the position of a time within a range, from 0 to 1. */
export function shareOf(at: number, { start, end }: TimeRange): number {
  return Math.min(Math.max((at - start) / Math.max(end - start, 1), 0), 1);
}
