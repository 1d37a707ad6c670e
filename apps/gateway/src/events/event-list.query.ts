import {
  eventFilters,
  textFilters,
  timeFilters,
  type EventFilters,
  type ListEventsRequest,
} from '@stream-events/contracts';
import { parseTime } from '../http/time.js';
import { ParameterFaults, parsePage, type Parameters } from '../paging/page-parameters.js';

/** A parsed query: the request to the events service, and the list that its cursors are bound to. */
export interface EventListQuery {
  request: ListEventsRequest;
  /** The path and the filters, in a fixed order. */
  list: string;
}

/**
 * Parses the query of the event list. Treats an empty value as no filter and ignores unknown parameters.
 *
 * @throws ServiceError `invalid` with all errors, by parameter
 */
export function parseEventListQuery(parameters: Parameters): EventListQuery {
  const faults = new ParameterFaults();
  const filters: EventFilters = {};
  for (const { name, field } of textFilters) {
    const value = parameters[name];
    if (value) filters[field] = value;
  }
  for (const { name, field } of timeFilters) {
    const value = parameters[name];
    const time = value ? faults.attempt(() => parseTime(name, value)) : undefined;
    if (time !== undefined) filters[field] = time;
  }
  const list = describeList(parameters);
  const page = parsePage(parameters, list, faults);
  faults.throwIfAny();
  return { list, request: { filters, ...page } };
}

function describeList(parameters: Parameters): string {
  const values = Object.keys(eventFilters).map((name) => parameters[name] || null);
  return JSON.stringify(['platform-events', ...values]);
}
