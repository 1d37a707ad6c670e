import { parseTime } from './parse-time.js';

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** Shows an API time in the user's time zone, and omits today's date. The tooltip has the full date and time. */
export function Time({ value }: { value: string }) {
  const date = parseTime(value);
  if (Number.isNaN(date.getTime())) return <span>{value}</span>;
  return (
    <time dateTime={date.toISOString()} title={full.format(date)}>
      {printTime(value)}
    </time>
  );
}

/** Formats a valid API time like `Time`, for texts that cannot contain elements. */
export function printTime(value: string): string {
  const date = parseTime(value);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? clock.format(date) : `${day.format(date)} ${clock.format(date)}`;
}
