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
  request: Omit<ListEventsRequest, 'limits'>;
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

/** Builds the text that binds cursors to a list. It names only the filters in use, so cursors stay valid when there are more filters. */
function describeList(parameters: Parameters): string {
  const filters = Object.keys(eventFilters)
    .map((name) => [name, printValue(name, parameters[name] ?? '')])
    .filter(([, value]) => value !== '');
  return JSON.stringify(['platform-events', ...filters]);
}

/** Normalizes a filter value: the order and spacing of values in a list do not matter. */
function printValue(name: string, value: string): string {
  return listFilters.has(name) ? splitFilterList(value).sort().join() : value;
}
