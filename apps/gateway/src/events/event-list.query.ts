import { ServiceError, type EventFilters, type ListEventsRequest } from '@stream-events/contracts';
import { ParameterFaults, parsePage, type Parameters } from '../paging/page-parameters.js';

/** The filters of the event list: the parameter, and the field of the contract that it fills. */
export const textFilters = {
  event_type: 'eventType',
  user_id: 'userId',
  user_name: 'userName',
  reward_id: 'rewardId',
  raid_from: 'raidFrom',
  raid_to: 'raidTo',
  broadcaster_user_id: 'broadcasterUserId',
  origin: 'origin',
  event_source: 'eventSource',
  event_id: 'eventId',
} as const satisfies Record<string, keyof EventFilters>;

const timeFilters = ['since', 'until'] as const;

/** A list that was asked for: the request to the events service, and what its cursors are bound to. */
export interface EventListQuery {
  request: ListEventsRequest;
  /** Path and filters, in a fixed order. */
  list: string;
}

/**
 * Reads the query of the event list. An empty value is no filter; unknown parameters are ignored.
 *
 * @throws ServiceError `invalid` with every fault by parameter
 */
export function parseEventListQuery(parameters: Parameters): EventListQuery {
  const faults = new ParameterFaults();
  const filters: EventFilters = {};
  for (const [parameter, field] of Object.entries(textFilters)) {
    const value = parameters[parameter];
    if (value) filters[field] = value;
  }
  for (const parameter of timeFilters) {
    const value = parameters[parameter];
    const time = value ? faults.attempt(() => parseTime(parameter, value)) : undefined;
    if (time !== undefined) filters[parameter] = time;
  }
  const list = describeList(parameters);
  const page = parsePage(parameters, list, faults);
  faults.throwIfAny();
  return { list, request: { filters, ...page } };
}

function describeList(parameters: Parameters): string {
  const names = [...Object.keys(textFilters), ...timeFilters];
  return JSON.stringify(['platform-events', ...names.map((name) => parameters[name] || null)]);
}

const timePattern =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9}))?([Zz]|[+-]\d{2}:?\d{2})?)?$/;

/** What is wrong with a time that `readTime` does not read. */
export const timeFault = 'must be an ISO 8601 time, for example 2026-11-21T07:30:00Z';

function parseTime(parameter: string, value: string): number {
  const time = readTime(value);
  if (time === undefined) throw ServiceError.onField(parameter, timeFault);
  return time;
}

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

/** Whether the calendar has this day: Date.parse takes February 30 for March 2. */
function isDay(date: string | undefined): boolean {
  const day = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === date;
}
