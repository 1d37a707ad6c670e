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

export interface EventListQuery {
  request: ListEventsRequest;
  /** Binds cursors to this list: the path, and the filters in a fixed order. */
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

/** Parses the filters, and adds errors to `faults`. */
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

// Cursors of version 0.1.0 include the values of its 12 filters, with null for an unused filter.
const firstFilters = 12;

/**
 * Builds the text that binds cursors to a list. Leaves out the filters after the last used one if they are newer than version 0.1.0, so
 * that old cursors stay valid.
 */
export function describeList(
  parameters: Parameters,
  names: readonly string[] = Object.keys(eventFilters),
): string {
  const values = names.map((name) => printValue(name, parameters[name] ?? '') || null);
  while (values.length > firstFilters && values.at(-1) === null) values.pop();
  return JSON.stringify(['platform-events', ...values]);
}

/** Normalizes a filter value: the order and spacing of values in a list do not matter. */
function printValue(name: string, value: string): string {
  return listFilters.has(name) ? splitFilterList(value).sort().join() : value;
}
