import type { EventFilters, ListEventsRequest } from '@stream-events/contracts';
import { parseTime } from '../http/time.js';
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

/** Those that are times; their fields have the same names. */
export const timeFilters = ['since', 'until'] as const;

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
