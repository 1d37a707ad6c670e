import {
  ServiceError,
  type EventFilters,
  type FieldErrors,
  type ListEventsRequest,
} from '@stream-events/contracts';
import { parseCursor } from './event-list.cursor.js';

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

export const defaultPageSize = 50;
export const maxPageSize = 100;

/** A list that was asked for: the request to the events service, and what its cursors are bound to. */
export interface EventListQuery {
  request: ListEventsRequest;
  /** Path and filters, in a fixed order. */
  list: string;
}

type Parameters = Readonly<Record<string, string | undefined>>;

/**
 * Reads the query of the event list. An empty value is no filter; unknown parameters are ignored.
 *
 * @throws ServiceError `invalid` with every fault by parameter
 */
export function parseEventListQuery(parameters: Parameters): EventListQuery {
  const errors: FieldErrors = {};
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      Object.assign(errors, error.errors);
      return undefined;
    }
  };
  const filters: EventFilters = {};
  for (const [parameter, field] of Object.entries(textFilters)) {
    const value = parameters[parameter];
    if (value) filters[field] = value;
  }
  for (const parameter of timeFilters) {
    const value = parameters[parameter];
    const time = value ? attempt(() => parseTime(parameter, value)) : undefined;
    if (time !== undefined) filters[parameter] = time;
  }
  const list = describeList(parameters);
  const pageSize = attempt(() => parsePageSize(parameters.page_size)) ?? defaultPageSize;
  const { cursor } = parameters;
  const position = cursor ? attempt(() => parseCursor(cursor, list)) : undefined;
  if (Object.keys(errors).length > 0)
    throw new ServiceError('invalid', `Invalid: ${Object.keys(errors).join(', ')}.`, { errors });
  return { list, request: { filters, pageSize, ...(position && { position }) } };
}

function describeList(parameters: Parameters): string {
  const names = [...Object.keys(textFilters), ...timeFilters];
  return JSON.stringify(['platform-events', ...names.map((name) => parameters[name] || null)]);
}

function parsePageSize(value: string | undefined): number {
  if (!value) return defaultPageSize;
  const size = Number(value);
  if (!/^\d{1,3}$/.test(value) || size < 1 || size > maxPageSize) {
    throw ServiceError.onField('page_size', `must be a whole number from 1 to ${maxPageSize}`);
  }
  return size;
}

const timePattern =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9}))?([Zz]|[+-]\d{2}:?\d{2})?)?$/;

/** Milliseconds since 1970 of an ISO 8601 time (UTC where it names no offset); parts of a millisecond round up. */
function parseTime(parameter: string, value: string): number {
  // A + that was not percent-encoded arrives as a space: the times that the API prints end in +0000.
  const match = timePattern.exec(
    value
      .trim()
      .replace(/ (\d{2}:?\d{2})$/, (whole, offset: string) => (value.includes('T') ? `+${offset}` : whole)),
  );
  const [, date, time = '00:00:00', fraction = '', offset = 'Z'] = match ?? [];
  const zone = /^[+-]\d{4}$/.test(offset) ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset.toUpperCase();
  const seconds = Date.parse(`${date}T${time.length === 5 ? `${time}:00` : time}${zone}`);
  if (!match || Number.isNaN(seconds) || !isDay(date)) {
    throw ServiceError.onField(parameter, 'must be an ISO 8601 time, for example 2026-11-21T07:30:00Z');
  }
  return seconds + Math.ceil(Number(fraction.padEnd(9, '0')) / 1e6);
}

/** Whether the calendar has this day: Date.parse takes February 30 for March 2. */
function isDay(date: string | undefined): boolean {
  const day = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === date;
}
