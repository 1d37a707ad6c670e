const minuteMs = 60_000;

/** Formats an API time in the browser's time zone for a `datetime-local` field: `2026-11-21T19:30:00`. */
export function printLocalTime(time: string): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return '';
  const offsetMs = new Date(at).getTimezoneOffset() * minuteMs;
  return new Date(at - offsetMs).toISOString().slice(0, 'YYYY-MM-DDThh:mm:ss'.length);
}

/** Converts the value of a `datetime-local` field to UTC. An empty field returns ''. */
export function parseLocalTime(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}
