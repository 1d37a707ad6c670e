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

/** A parsed query of the event list. */
export interface EventListQuery {
  request: ListEventsRequest;
  /** The description of the list, to which its cursors are bound: the path, and the filters in a fixed order. */
  list: string;
}

/**
 * Parses the query of the event list. Ignores empty filters and unknown parameters.
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

// Version 0.1.0 describes a list by the values of its 12 filters, with null for an unused filter.
const firstFilters = 12;

/**
 * Returns the description of a list, to which the cursors of the list are bound. A filter that was added after version 0.1.0 does not
 * change the description while the filter is unused, so that older cursors stay valid.
 */
export function describeList(
  parameters: Parameters,
  names: readonly string[] = Object.keys(eventFilters),
): string {
  const values = names.map((name) => printValue(name, parameters[name] ?? '') || null);
  while (values.length > firstFilters && values.at(-1) === null) values.pop();
  return JSON.stringify(['platform-events', ...values]);
}

/** Prints the value of a filter. Lists that differ only in the order or the spacing of their values print the same text. */
function printValue(name: string, value: string): string {
  return listFilters.has(name) ? splitFilterList(value).sort().join() : value;
}
