import { ServiceError } from '@stream-events/contracts';

/** Formats a time (milliseconds since 1970) as the API does: UTC, to the second. */
export function printTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}+0000`;
}

export function printTimeOrNull(time: number | null): string | null {
  return time === null ? null : printTime(time);
}

/** An example of a time, for the API description. */
export const exampleTime = '2026-11-21T07:30:00+0000';

const timePattern =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9}))?([Zz]|[+-]\d{2}:?\d{2})?)?$/;

export const timeFault = 'must be an ISO 8601 time, for example 2026-11-21T07:30:00Z';

/**
 * Parses an ISO 8601 time to milliseconds since 1970, rounded up. Assumes UTC if the offset is missing. Returns undefined for other text.
 */
export function readTime(value: string): number | undefined {
  // Accept a space before the offset. The API's times end in +0000, and a + that is not percent-encoded arrives as a space.
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
 * Parses the time in a query parameter.
 *
 * @throws ServiceError `invalid` on the parameter
 */
export function parseTime(parameter: string, value: string): number {
  const time = readTime(value);
  if (time === undefined) throw ServiceError.onField(parameter, timeFault);
  return time;
}

/** Rejects days that do not exist: Date.parse reads February 30 as March 2. */
function isDay(date: string | undefined): boolean {
  const day = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === date;
}
