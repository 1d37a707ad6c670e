import { ServiceError } from '@stream-events/contracts';

/** Prints a time, in milliseconds since 1970, as the API does: UTC, to the second. */
export function printTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}+0000`;
}

/** The same for a time that may be missing. */
export function printTimeOrNull(time: number | null): string | null {
  return time === null ? null : printTime(time);
}

/** A time as the API prints it, for its description. */
export const exampleTime = '2026-11-21T07:30:00+0000';

const timePattern =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9}))?([Zz]|[+-]\d{2}:?\d{2})?)?$/;

/** What is wrong with a time that `readTime` does not read. */
export const timeFault = 'must be an ISO 8601 time, for example 2026-11-21T07:30:00Z';

/**
 * Milliseconds since 1970 of an ISO 8601 time (UTC where it names no offset), parts of a millisecond rounded up; undefined
 * when it is none.
 */
export function readTime(value: string): number | undefined {
  // A + that was not percent-encoded arrives as a space: the times that the API prints end in +0000.
  const match = timePattern.exec(
    value
      .trim()
      .replace(/ (\d{2}:?\d{2})$/, (whole, offset: string) => (value.includes('T') ? `+${offset}` : whole)),
  );
  const [, date, time = '00:00:00', fraction = '', offset = 'Z'] = match ?? [];
  const zone = /^[+-]\d{4}$/.test(offset) ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset.toUpperCase();
  const seconds = Date.parse(`${date}T${time.length === 5 ? `${time}:00` : time}${zone}`);
  if (!match || Number.isNaN(seconds) || !isDay(date)) return undefined;
  return seconds + Math.ceil(Number(fraction.padEnd(9, '0')) / 1e6);
}

/**
 * The time of a parameter, as `readTime` reads it.
 *
 * @throws ServiceError `invalid` on the parameter
 */
export function parseTime(parameter: string, value: string): number {
  const time = readTime(value);
  if (time === undefined) throw ServiceError.onField(parameter, timeFault);
  return time;
}

/** Whether the calendar has this day: Date.parse takes February 30 for March 2. */
function isDay(date: string | undefined): boolean {
  const day = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === date;
}
