const minuteMs = 60_000;

/** Prints a time from the API in this browser's time zone, in the format of a `datetime-local` field: `2026-11-21T19:30:00`. */
export function printLocalTime(time: string): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return '';
  const offsetMs = new Date(at).getTimezoneOffset() * minuteMs;
  return new Date(at - offsetMs).toISOString().slice(0, 'YYYY-MM-DDThh:mm:ss'.length);
}

/** Parses the value of a `datetime-local` field. Returns the time in UTC; '' for an empty field. */
export function parseLocalTime(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}
