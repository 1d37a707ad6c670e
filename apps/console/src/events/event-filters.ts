import type { LiveFilters } from '@stream-events/client';

/** The filters of the event list. The API and the URL use the same names. */
export const filterNames = [
  'event_types',
  'event_type',
  'user_name',
  'user_id',
  'channel_id',
  'broadcaster_user_id',
  'reward_id',
  'raid_from',
  'raid_to',
  'origin',
  'event_source',
  'event_id',
  'since',
  'until',
] as const satisfies readonly (keyof LiveFilters)[];

export type FilterName = (typeof filterNames)[number];
export type EventFilters = Partial<Record<FilterName, string>>;

/** The state in the URL of the events page: the filters, and the id of the event in the inspector. */
export type EventSearch = EventFilters & { event?: string };

export function parseEventSearch(search: Record<string, unknown>): EventSearch {
  const names = [...filterNames, 'event'] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );
}

/** Returns the filters in a URL, without the id of the inspected event. */
export function filtersOf({ event: _event, ...filters }: EventSearch): EventFilters {
  return filters;
}
