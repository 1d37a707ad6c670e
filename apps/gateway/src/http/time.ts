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
