import {
  eventFilters,
  parseTextFilter,
  splitFilterList,
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
  const filters = parseEventFilters(parameters, faults);
  const list = describeList(parameters);
  const page = parsePage(parameters, list, faults);
  faults.throwIfAny();
  return { list, request: { filters, ...page } };
}

/** Parses the filters of a query. */
export function parseEventFilters(parameters: Parameters, faults: ParameterFaults): EventFilters {
  const filters: EventFilters = {};
  for (const { name } of textFilters)
    Object.assign(
      filters,
      faults.attempt(() => parseTextFilter(name, parameters[name] ?? '')),
    );
  for (const { name, field } of timeFilters) {
    const value = parameters[name];
    const time = value ? faults.attempt(() => parseTime(name, value)) : undefined;
    if (time !== undefined) filters[field] = time;
  }
  return filters;
}

const listFilters = new Set<string>(
  textFilters.filter(({ maxValues }) => maxValues !== undefined).map(({ name }) => name),
);

// Version 0.1.0 describes a list with a value or null for each of its filters.
const firstFilters = 12;

/** Describes the list that cursors are bound to. An unused filter of a later version leaves the description unchanged. */
export function describeList(
  parameters: Parameters,
  names: readonly string[] = Object.keys(eventFilters),
): string {
  const values = names.map((name) => printValue(name, parameters[name] ?? '') || null);
  while (values.length > firstFilters && values.at(-1) === null) values.pop();
  return JSON.stringify(['platform-events', ...values]);
}

/** Prints a filter's value. Lists of the same values in another order or spacing print the same. */
function printValue(name: string, value: string): string {
  return listFilters.has(name) ? splitFilterList(value).sort().join() : value;
}
