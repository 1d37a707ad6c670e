import { Calendar } from '@mantine/dates';
import '@mantine/dates/styles.css';
import { printStreamDuration } from '../streams/stream-times.js';
import classes from './stream-calendar.module.css';
import { levelOf, type DayOfStreams } from './streams-by-day.js';

interface StreamCalendarProps {
  days: ReadonlyMap<string, DayOfStreams>;
  /** The visible month: `2026-11`. */
  month: string;
  /** The selected day. */
  day: string | undefined;
  today: string;
  onMonth: (month: string) => void;
  onDay: (day: string) => void;
}

/**
 * A calendar month. The longer a day's streams, the stronger the day's color; a stream counts for the day on which it began. The calendar
 * shows one month, not a year, so that days fit on a phone and are large enough for a finger. Arrow keys skip days without streams, because
 * these cannot be selected.
 */
export function StreamCalendar({ days, month, day, today, onMonth, onDay }: StreamCalendarProps) {
  return (
    <Calendar
      date={`${month}-01`}
      onDateChange={(date) => onMonth(date.slice(0, 7))}
      maxDate={today}
      maxLevel="year"
      size="md"
      fullWidth
      hideOutsideDates
      highlightToday
      ariaLabels={{ previousMonth: 'Previous month', nextMonth: 'Next month' }}
      getDayProps={(date) => {
        const found = days.get(date);
        return found
          ? {
              'aria-label': describeDay(date, found),
              'aria-pressed': date === day,
              selected: date === day,
              className: classes.day,
              'data-level': levelOf(found.seconds),
              onClick: () => onDay(date),
            }
          : { disabled: true };
      }}
    />
  );
}

const dayName = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone: 'UTC' });

function describeDay(date: string, { streams, seconds }: DayOfStreams): string {
  const count = streams.length === 1 ? '1 stream' : `${streams.length} streams`;
  return `${dayName.format(Date.parse(date))}: ${count}, ${printStreamDuration(seconds)}`;
}
